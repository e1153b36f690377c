/** Prints a JSON tree in any language whose literals have the structure of JSON. */
import type { JsonNode, Member } from './json-tree.ts'

export interface Literals {
  readonly string: (value: string) => string
  readonly number: (numeral: string) => string
  readonly word: (value: boolean | null) => string
  /** Formats a key, without the colon. */
  readonly key: (key: string) => string
  /** Padding inside the braces of an object on one line: a space in JavaScript. */
  readonly pad: '' | ' '
  /** Whether the last member or element ends in a comma if each has its own line. */
  readonly trailingComma: boolean
}

/** Layout of the text: a value that fits the width is printed on one line. */
export interface Layout {
  /** Indentation of each line except the first. */
  readonly indent: string
  readonly step: string
  readonly width: number
}

export function printTree(node: JsonNode, literals: Literals, layout: Layout): string {
  switch (node.kind) {
    case 'string':
      return literals.string(node.value)
    case 'number':
      return literals.number(node.text)
    case 'word':
      return literals.word(node.value)
    case 'array':
      return printParts(
        node.elements,
        '[]',
        '',
        (element, inner) => printTree(element, literals, inner),
        literals,
        layout,
      )
    case 'object':
      return printParts(
        node.members,
        '{}',
        literals.pad,
        (member, inner) => printMember(member, literals, inner),
        literals,
        layout,
      )
  }
}

function printMember({ key, value }: Member, literals: Literals, layout: Layout): string {
  const text = value === undefined ? 'null' : printTree(value, literals, layout)
  return `${literals.key(key)}: ${text}`
}

function printParts<Part>(
  parts: readonly Part[],
  braces: string,
  pad: string,
  print: (part: Part, layout: Layout) => string,
  literals: Literals,
  layout: Layout,
): string {
  const [open, close] = braces
  if (parts.length === 0) return braces
  const inner = { ...layout, indent: layout.indent + layout.step }
  const printed = parts.map((part) => print(part, inner))
  const length = printed.reduce((sum, text) => sum + text.length + 2, inner.indent.length)
  if (length <= layout.width && printed.every((text) => !text.includes('\n')))
    return `${open!}${pad}${printed.join(', ')}${pad}${close!}`
  // A vector may have a thousand numbers, so each line holds as many numbers as fit.
  const lines = printed.every((text) => /^[-\d]/.test(text))
    ? fillLines(printed, layout.width - inner.indent.length)
    : printed
  const end = literals.trailingComma ? ',' : ''
  return `${open!}\n${inner.indent}${lines.join(`,\n${inner.indent}`)}${end}\n${layout.indent}${close!}`
}

function fillLines(texts: readonly string[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const text of texts) {
    if (line !== '' && line.length + text.length + 3 > width) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? text : `, ${text}`
  }
  return [...lines, line]
}

/** JSON, with escapes for control and invisible characters. */
export const jsonLiterals: Literals = {
  string: quoteJson,
  number: (numeral) => numeral,
  word: String,
  key: quoteJson,
  pad: ' ',
  trailingComma: false,
}

/**
 * A JSON string with escapes for invisible characters. JSON.stringify itself escapes
 * control characters and lone surrogates.
 */
export function quoteJson(value: string): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escapeChar)
}

export function escapeChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
