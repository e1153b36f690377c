/**
 * JSON values in the console. No information is lost between a reply and the screen, or between an
 * editor and a request.
 *
 * Objects are Maps, because a field may be called `__proto__`, and because keys such as `10` keep
 * their order. Numbers keep their digits. A double would round long numbers, and writing the
 * rounded number back would change the stored one.
 */
export type Value = null | boolean | string | Numeral | Value[] | JsonObject

export type JsonObject = Map<string, Value>

/** A number as written. */
export class Numeral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text that is inserted into requests without changes. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Input of printJson: JSON values, and plain objects that the console creates. */
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

/** The key of an extended JSON value (a date, an id, bytes); undefined for other values. */
export function extendedKind(value: Value): string | undefined {
  if (!isObject(value) || value.size !== 1) return undefined
  const [name] = value.keys()
  return extendedKinds.has(name!) ? name : undefined
}

const extendedKinds = new Set(['$date', '$uuid', '$objectId', '$binary'])

/** The value at a path of names and positions; undefined when it does not exist. */
export function valueAt(root: Value, path: readonly string[]): Value | undefined {
  let value: Value | undefined = root
  for (const name of path) {
    if (isObject(value)) value = value.get(name)
    else if (Array.isArray(value)) value = value[Number(name)]
    else return undefined
  }
  return value
}

/**
 * A path as written in filters, sorts and projections, with dots and ampersands in names
 * escaped.
 */
export function writePath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[.&]/g, '&$&')).join('.')
}

/**
 * The value as JSON.parse would return it. Numbers may lose digits, so the result must not be sent
 * back to the server.
 */
export function toPlain(value: Value): unknown {
  if (value instanceof Numeral) return Number(value.text)
  if (Array.isArray(value)) return value.map(toPlain)
  if (!isObject(value)) return value
  // Like JSON.parse, fromEntries creates a field `__proto__` instead of setting the prototype.
  return Object.fromEntries([...value].map(([name, member]) => [name, toPlain(member)]))
}
