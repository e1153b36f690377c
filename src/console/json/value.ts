/**
 * JSON values as pages hold them: nothing is lost between a reply and the screen, or between
 * an editor and a request.
 *
 * Objects are Maps: a field may be called `__proto__`, and `10` keeps its place. Numbers keep
 * their digits: a double would change long ones, and writing them back would store the change.
 */
export type Value = null | boolean | string | Numeral | Value[] | JsonObject

export type JsonObject = Map<string, Value>

/** A number as it was written. */
export class Numeral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text that is already written: it is sent as it is. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What printJson takes: values, and plain objects that the console itself writes. */
export type Printable =
  | Value
  | number
  | undefined
  | RawJson
  | readonly Printable[]
  | ReadonlyMap<string, Printable>
  | { readonly [name: string]: Printable }

export function isObject(value: Printable): value is JsonObject {
  return value instanceof Map
}

export function isNested(value: Value): value is Value[] | JsonObject {
  return Array.isArray(value) || isObject(value)
}

/** What stands in an object of one `$` key: a date, an id, bytes. Undefined for others. */
export function extendedKind(value: Value): string | undefined {
  if (!isObject(value) || value.size !== 1) return undefined
  const [name] = value.keys()
  return extendedKinds.has(name!) ? name : undefined
}

const extendedKinds = new Set(['$date', '$uuid', '$objectId', '$binary'])

/** What is stored at names and positions from the root on, if anything. */
export function valueAt(root: Value, path: readonly string[]): Value | undefined {
  let value: Value | undefined = root
  for (const name of path) {
    if (isObject(value)) value = value.get(name)
    else if (Array.isArray(value)) value = value[Number(name)]
    else return undefined
  }
  return value
}

/** A path as filters, sorts and projections write it: dots and ampersands of names escaped. */
export function writePath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[.&]/g, '&$&')).join('.')
}

/** As JavaScript reads JSON: numbers may lose digits, so this is not to be written back. */
export function toPlain(value: Value): unknown {
  if (value instanceof Numeral) return Number(value.text)
  if (Array.isArray(value)) return value.map(toPlain)
  if (!isObject(value)) return value
  // Like JSON.parse, this makes a field of `__proto__`, and not a prototype.
  return Object.fromEntries([...value].map(([name, member]) => [name, toPlain(member)]))
}
