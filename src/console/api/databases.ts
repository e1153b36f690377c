/** Lists databases through the management API. */
import { manage } from './manage.ts'

export interface Database {
  /** Id in the path of the command API; empty for the home database. */
  readonly id: string
  /** Id in the management API; absent when the management API is not available. */
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

/** The largest page size of the API. */
const pageSize = 100

/** All databases that the token may see, except terminated ones. */
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
