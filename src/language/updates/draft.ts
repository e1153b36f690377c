/**
 * A document during an update. The original is never modified: containers above a changed value are
 * copied, each at most once per update.
 */
import { apiError } from '../../errors/api-error.ts'
import { withArticle } from '../../errors/catalog-entry.ts'
import { copyObject } from '../../json/copy-object.ts'
import { equalValues } from '../../json/equal.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { Steps } from '../../runtime/steps.ts'
import { arrayPosition, escapeSegment, type Path } from '../values/path.ts'
import { valueAt } from '../values/value-at.ts'

type Container = JsonObject | Value[]

export class Draft {
  document: JsonObject
  changed = false
  private readonly limits: Limits
  private readonly copies = new Set<Container>()

  constructor(document: JsonObject, limits: Limits) {
    this.document = document
    this.limits = limits
  }

  /** The value at the path, if any. */
  find(path: Path): Value | undefined {
    return valueAt(this.document, path)
  }

  /** The container of the path's last segment; undefined if the container does not exist. */
  holderOf(path: Path): Container | undefined {
    let holder: Container = this.document
    for (const segment of path.segments.slice(0, -1)) {
      const child = childOf(holder, segment)
      if (!isContainer(child)) return undefined
      holder = child
    }
    return holder
  }

  /**
   * Sets the value at the path, and creates missing objects above the path. Writing an equal value
   * does not count as a change.
   */
  *write(operator: string, path: Path, value: Value): Steps<void> {
    const old = this.find(path)
    if (old !== undefined && (old === value || equalValues(old, value))) return
    if (old === undefined) this.checkWay(operator, path)
    this.changed = true
    // A new _id becomes the first field of the document.
    if (path.text === '_id' && old === undefined)
      this.document = yield* copyObject(this.document, new Map([['_id', value]]))
    else putChild(yield* this.ownHolder(path), path.segments.at(-1)!, value)
  }

  /** Removes a field. An array element is replaced by null, so that the array keeps its length. */
  *remove(path: Path): Steps<void> {
    const old = this.find(path)
    if (old === undefined) return
    if (Array.isArray(this.holderOf(path)) && old === null) return
    this.changed = true
    const holder = yield* this.ownHolder(path)
    const last = path.segments.at(-1)!
    if (Array.isArray(holder)) putChild(holder, last, null)
    else holder.delete(last)
  }

  /** Throws if the path cannot be created, for example because it names a field of a number. */
  private checkWay(operator: string, path: Path): void {
    const { segments } = path
    let holder: Value = this.document
    for (const [depth, segment] of segments.entries()) {
      const above = segments.slice(0, depth).map(escapeSegment).join('.')
      const position = Array.isArray(holder) && /^(?:0|[1-9]\d*)$/.test(segment)
      if (!isContainer(holder) || (Array.isArray(holder) && !position))
        throw apiError('UNSUPPORTED_UPDATE_OPERATION_PATH', {
          operator,
          path: path.text,
          reason: `"${above}" is ${describe(holder)}, which cannot have a field "${segment}"`,
        })
      const child = childOf(holder, segment)
      if (child === undefined) {
        if (Array.isArray(holder)) this.checkPosition(holder, segment, above)
        break // The rest of the path does not exist, so it can be created.
      }
      holder = child
    }
    // A path of n segments passes through n containers, the first of which is the document.
    if (segments.length > this.limits.documentDepthMax)
      throw apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: `The depth of "${path.text}"`,
        actual: segments.length,
        max: this.limits.documentDepthMax,
      })
  }

  // Throws if the position requires padding beyond the length limit. Appending needs no padding:
  // the check of the whole document limits the length later, because arrays that are not indexed
  // may be longer.
  private checkPosition(array: readonly Value[], segment: string, at: string): void {
    const position = arrayPosition(segment)
    if (
      position === -1 ||
      (position > array.length && position >= this.limits.arrayLengthMax)
    )
      throw apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: `The length of the Array "${at}" with a position ${segment}`,
        actual: `more than ${segment}`,
        max: this.limits.arrayLengthMax,
      })
  }

  /** The container of the path's last segment, copied or created if necessary. */
  private *ownHolder(path: Path): Steps<Container> {
    this.document = yield* this.copyOf(this.document)
    let holder: Container = this.document
    for (const segment of path.segments.slice(0, -1)) {
      const child = childOf(holder, segment)
      const own = yield* this.copyOf(isContainer(child) ? child : new Map<string, Value>())
      if (own !== child) putChild(holder, segment, own)
      holder = own
    }
    return holder
  }

  private *copyOf<Kind extends Container>(container: Kind): Steps<Kind> {
    if (this.copies.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : yield* copyObject(container)
    this.copies.add(copy)
    return copy as Kind
  }
}

/** Whether the value has fields or elements. Wrappers such as {"$date": …} have none. */
function isContainer(value: Value | undefined): value is Container {
  return Array.isArray(value) || (isObject(value) && extendedOf(value) === undefined)
}

function childOf(holder: Container, segment: string): Value | undefined {
  if (!Array.isArray(holder)) return holder.get(segment)
  const position = arrayPosition(segment)
  return position === -1 ? undefined : holder[position]
}

function putChild(holder: Container, segment: string, value: Value): void {
  if (Array.isArray(holder)) {
    const position = arrayPosition(segment)
    while (holder.length < position) holder.push(null)
    holder[position] = value
  } else holder.set(segment, value)
}

function describe(value: Value): string {
  if (isObject(value)) return `the typed value {"${[...value.keys()].join()}": …}`
  return withArticle(jsonTypeOf(value))
}
