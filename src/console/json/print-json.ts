/** Serializes values to JSON: on one line for requests, indented for display. */
import { Numeral, RawJson, type Printable } from './value.ts'

export function printJson(value: Printable): string {
  return print(value, '', '')
}

/** Maximum width of a line. Objects and arrays that do not fit are split into several lines. */
const widthMax = 80

/** JSON indented by two spaces. A value that fits on one line is not split. */
export function printPretty(value: Printable): string {
  return print(value, '\n', '  ')
}

function print(value: Printable, lineBreak: string, indent: string): string {
  if (value === undefined || value === null) return 'null'
  if (value instanceof Numeral || value instanceof RawJson) return value.text
  if (typeof value !== 'object') return JSON.stringify(value)
  if (isList(value)) {
    const elements = value.map((element) =>
      print(element, deeper(lineBreak, indent), indent),
    )
    return join(elements, '[', ']', lineBreak, indent)
  }
  const members: string[] = []
  const colon = indent === '' ? ':' : ': '
  for (const [name, member] of membersOf(value)) {
    if (member === undefined) continue
    const text = print(member, deeper(lineBreak, indent), indent)
    members.push(JSON.stringify(name) + colon + text)
  }
  return join(members, '{', '}', lineBreak, indent)
}

function membersOf(
  value: ReadonlyMap<string, Printable> | Readonly<Record<string, Printable>>,
): Iterable<readonly [string, Printable]> {
  return isMap(value) ? value : Object.entries(value)
}

function isMap(value: object): value is ReadonlyMap<string, Printable> {
  return value instanceof Map
}

function isList(value: object): value is readonly Printable[] {
  return Array.isArray(value)
}

function deeper(lineBreak: string, indent: string): string {
  return indent === '' ? '' : lineBreak + indent
}

function join(
  parts: readonly string[],
  open: string,
  close: string,
  lineBreak: string,
  indent: string,
): string {
  if (parts.length === 0) return open + close
  if (indent === '') return open + parts.join(',') + close
  const width = parts.reduce((sum, part) => sum + part.length + 2, lineBreak.length + 2)
  if (width <= widthMax && !parts.some((part) => part.includes('\n')))
    return open === '{' ? `{ ${parts.join(', ')} }` : `[${parts.join(', ')}]`
  const inner = lineBreak + indent
  // A vector may have a thousand numbers, so each line holds as many numbers as fit.
  if (parts.every((part) => /^[-\d]/.test(part)))
    return open + inner + fillLines(parts).join(',' + inner) + lineBreak + close
  return open + inner + parts.join(',' + inner) + lineBreak + close
}

function fillLines(parts: readonly string[]): string[] {
  const lines: string[] = []
  let line = ''
  for (const part of parts) {
    if (line !== '' && line.length + part.length > widthMax) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? part : `, ${part}`
  }
  return [...lines, line]
}
