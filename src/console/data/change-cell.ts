/** Changes single values of documents and rows, and undoes these changes. */
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { printJson } from '../json/print-json.ts'
import { shortText } from '../json/value-text.ts'
import { isObject, Numeral, writePath, type JsonObject, type Value } from '../json/value.ts'
import { updatePath } from './cell-value.ts'
import { updateDocument } from './change-documents.ts'
import { idFilter } from './document-id.ts'

/** A change of one value. Undefined stands for an absent value. */
export interface CellChange {
  readonly document: JsonObject
  /** Path from the root of the document; array positions are written `[0]`. */
  readonly path: readonly string[]
  readonly before: Value | undefined
  readonly after: Value | undefined
}

/** Thrown when the value differs from the one that the user saw. */
export class CellConflict extends Error {
  override readonly name = 'CellConflict'
  readonly current: Value | undefined

  constructor(current: Value | undefined) {
    const now = current === undefined ? 'removed it' : `set it to ${shortText(current)}`
    super(`Another client has ${now}. Saving again overwrites that.`)
    this.current = current
  }
}

/**
 * Changes the value if it still is `before`. Otherwise throws a CellConflict, and changes nothing.
 */
export async function changeCell(place: Place, change: CellChange): Promise<void> {
  const { document, path, before, after } = change
  const current = await readCellOf(place, document, path)
  if (!isSameValue(current, before)) throw new CellConflict(current)
  const target = updatePath(place, path)
  const update: JsonObject =
    after === undefined
      ? new Map([['$unset', new Map([[target, '']])]])
      : new Map([['$set', new Map([[target, after]])]])
  await updateDocument(place, document, update)
}

/** The change that restores the earlier value. */
export function reversed({ document, path, before, after }: CellChange): CellChange {
  // The server omits columns without a value, so a cleared column reads as absent.
  return { document, path, before: after, after: before }
}

export function isSameValue(one: Value | undefined, other: Value | undefined): boolean {
  return printJson(one ?? null) === printJson(other ?? null)
}

async function readCellOf(
  place: Place,
  document: JsonObject,
  path: readonly string[],
): Promise<Value | undefined> {
  const name = place.kind === 'table' ? path[0]! : writePath(path.slice(0, 1))
  const reply = await command(place, 'findOne', {
    filter: idFilter(place, document),
    projection: new Map([[name, new Numeral('1')]]),
  })
  const [found] = reply.documents
  if (found === undefined) throw new Error('The document or row no longer exists.')
  return valueAtPath(found, path)
}

/** The value at a path whose array positions are written `[0]`. */
function valueAtPath(root: JsonObject, path: readonly string[]): Value | undefined {
  let value: Value | undefined = root
  for (const name of path) {
    if (Array.isArray(value)) value = value[Number(name.slice(1, -1))]
    else if (isObject(value)) value = value.get(name)
    else return undefined
  }
  return value
}
