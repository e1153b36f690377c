/** Values as short text, for cells and lines. */
import { extendedKind, isObject, Numeral, type JsonObject, type Value } from './value.ts'

/** The kind of a value, which determines its colour. */
export type ValueKind = 'string' | 'number' | 'word' | 'nested' | 'special'

export function kindOf(value: Value): ValueKind {
  if (typeof value === 'string') return 'string'
  if (value instanceof Numeral) return 'number'
  if (value === null || typeof value === 'boolean') return 'word'
  return extendedKind(value) === undefined ? 'nested' : 'special'
}

/** Length to which strings are truncated in cells and lines. */
const shortLengthMax = 240

/** The value as text on one line. */
export function shortText(value: Value): string {
  if (typeof value === 'string') return cut(value)
  if (value instanceof Numeral) return cut(value.text)
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return arrayText(value)
  const special = extendedKind(value)
  return special === undefined ? objectText(value) : specialText(value, special)
}

/** Whether shortText truncates a string or number, or replaces its line breaks. */
export function isCut(value: Value): boolean {
  const text =
    typeof value === 'string' ? value : value instanceof Numeral ? value.text : ''
  return text.length > shortLengthMax || text.includes('\n')
}

function cut(text: string): string {
  const line = text.length > shortLengthMax ? `${text.slice(0, shortLengthMax)}…` : text
  return line.replace(/\s+/g, ' ')
}

function arrayText(array: readonly Value[]): string {
  if (array.length === 0) return '[ ]'
  if (array.length > 24 && array.every((element) => element instanceof Numeral))
    return `[ ${array.length} numbers ]`
  return cut(`[ ${joinSome(array.slice(0, 12).map(part), array.length > 12)} ]`)
}

function objectText(object: JsonObject): string {
  if (object.size === 0) return '{ }'
  const members: string[] = []
  for (const [name, value] of object) {
    if (members.length === 8) break
    members.push(`${cutName(name)}: ${part(value)}`)
  }
  return cut(`{ ${joinSome(members, object.size > 8)} }`)
}

function joinSome(parts: readonly string[], hasMore: boolean): string {
  return parts.join(', ') + (hasMore ? ', …' : '')
}

function part(value: Value): string {
  if (Array.isArray(value)) return `[${value.length}]`
  if (typeof value === 'string') return value.length > 40 ? `${value.slice(0, 40)}…` : value
  if (isObject(value) && extendedKind(value) === undefined) return `{${value.size}}`
  return shortText(value)
}

export function cutName(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name
}

/** An extended JSON value as text: dates in a readable form, ids as their digits. */
function specialText(value: JsonObject, kind: string): string {
  const inside = value.get(kind)
  if (kind === '$date' && inside instanceof Numeral) {
    const date = new Date(Number(inside.text))
    return Number.isNaN(date.getTime()) ? inside.text : date.toISOString()
  }
  if (kind === '$binary' && typeof inside === 'string')
    return `${Math.floor((inside.length * 3) / 4)} bytes`
  return typeof inside === 'string' ? cut(inside) : shortText(inside ?? null)
}
