/** Databases, as the management API lists them. */
import { manage } from './manage.ts'

export interface Database {
  /** Where its commands go; empty for the home database. */
  readonly id: string
  /** By which the management API knows it, if that answers. */
  readonly managedId?: string
  readonly name: string
  readonly isHome: boolean
}

export type ManagedDatabase = Database & { readonly managedId: string }

interface DatabaseView {
  readonly id: string
  readonly info: { readonly name: string }
  readonly dataEndpointUrl: string
}

/** What the API lists at once, at most. */
const pageSize = 100

/** All that the token may see and that are not terminated. */
export async function listDatabases(): Promise<readonly ManagedDatabase[]> {
  const found: ManagedDatabase[] = []
  for (let after = ''; ;) {
    const path = `databases?limit=${pageSize}${after}`
    const views = await manage<readonly DatabaseView[]>('GET', path)
    found.push(...views.map(readView))
    if (views.length < pageSize) return found
    after = `&starting_after=${encodeURIComponent(views.at(-1)!.id)}`
  }
}

function readView({ id, info, dataEndpointUrl }: DatabaseView): ManagedDatabase {
  const isHome = !dataEndpointUrl.includes(`/databases/${id}`)
  return { id: isHome ? '' : id, managedId: id, name: info.name, isHome }
}
