/** Paths of fields, as filters and projections write them: `address.city`, or `a&.b` for a dot in a name. */

/** A document of either JSON library. Numbers that need all their digits are objects. */
export type FieldMap = ReadonlyMap<string, unknown>

export type FieldPath = readonly string[]

export function parseFieldPath(text: string): FieldPath {
  const names = ['']
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '.') names.push('')
    else if (character === '&' && at + 1 < text.length)
      names.push(names.pop()! + text[++at]!)
    else names.push(names.pop()! + character)
  }
  return names
}

export function printFieldPath(path: FieldPath): string {
  return path.map((name) => name.replace(/[.&]/g, '&$&')).join('.')
}

/** The value at the path; undefined when the document has none. */
export function fieldAt(document: FieldMap, path: FieldPath): unknown {
  let value: unknown = document
  for (const name of path) {
    if (value instanceof Map) value = value.get(name) as unknown
    else if (Array.isArray(value)) value = value[Number(name)] as unknown
    else return undefined
  }
  return value
}
