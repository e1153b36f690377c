/** Schema changes whose answer may be lost. */
import type { Line } from './line.ts'
import { Unexplained } from './unexplained.ts'

export interface SchemaChange {
  /** The path to which the command is sent. */
  readonly path: string
  readonly command: object
  /** The result of `read` before the change, and after it. */
  readonly before: string
  readonly after: string
  readonly read: () => Promise<string>
}

/**
 * Sends a schema change, resolves a lost answer with `read`, and returns whether the change was
 * made.
 */
export async function changeSchema(line: Line, change: SchemaChange): Promise<boolean> {
  const { path, command, before, after, read } = change
  const told = await line.send(path, command)
  if (told.kind === 'answered') {
    const { answer } = told
    if (answer.body.status?.['ok'] !== 1 || answer.codes.length > 0)
      throw new Unexplained(`${path}: a change of schema was refused`, {
        command,
        answer: answer.text,
      })
    return true
  }
  const seen = await read()
  if (seen === after && told.kind === 'lost') return true
  if (seen === before) return false
  throw new Unexplained(`${path}: neither as before nor as after (${told.kind})`, {
    command,
    answer: seen,
    expected: told.kind === 'lost' ? `${before}\n     or   ${after}` : before,
  })
}

/** The definitions of all schema objects of one kind, by name. */
export async function listed(
  line: Line,
  path: string,
  [command, member, name]: Listing,
): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
  const asked = { [command]: { options: { explain: true } } }
  const answer = await line.ask(path, asked)
  const entries = answer.body.status?.[member]
  if (!Array.isArray(entries))
    throw new Unexplained(`${path}: no list`, { command: asked, answer: answer.text })
  return new Map(
    (entries as Record<string, unknown>[]).map((entry) => [String(entry[name]), entry]),
  )
}

type Listing = readonly [command: string, member: string, name: string]

export const listings = {
  collections: ['findCollections', 'collections', 'name'],
  tables: ['listTables', 'tables', 'name'],
  indexes: ['listIndexes', 'indexes', 'name'],
  types: ['listTypes', 'types', 'udtName'],
} as const satisfies Record<string, Listing>
