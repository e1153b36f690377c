/** Locates a cursor in JSON text: its path, and whether it is at a name or a value. */
import type { JsonNode, ObjectNode } from '../json/json-tree.ts'

export interface CursorPlace {
  /** Path from the root: names of objects, and positions in arrays. */
  readonly path: readonly (string | number)[]
  readonly at: 'name' | 'value'
  /** The range that a completion replaces. */
  readonly from: number
  readonly to: number
  /** The part of the replaced range before the cursor, without its opening quote. */
  readonly typed: string
  /** Names that the object already has, which completion does not propose again. */
  readonly taken: readonly string[]
}

/** The place of a cursor; undefined where neither a name nor a value can start. */
export function cursorPlace(
  root: JsonNode | undefined,
  text: string,
  position: number,
): CursorPlace | undefined {
  if (root === undefined) return undefined
  return placeIn(root, text, position, [])
}

type Path = readonly (string | number)[]

function placeIn(
  node: JsonNode,
  text: string,
  position: number,
  path: Path,
): CursorPlace | undefined {
  if (node.kind === 'object') return placeInObject(node, text, position, path)
  if (node.kind === 'array') {
    if (!isInside(node, text, position)) return undefined
    const at = node.elements.findIndex((element) => touches(element, text, position))
    if (at !== -1) return placeIn(node.elements[at]!, text, position, [...path, at])
    const before = lastChar(text, position)
    return before === '[' || before === ','
      ? gap('value', position, [...path, node.elements.length])
      : undefined
  }
  return token(node, 'value', text, position, path, [])
}

function placeInObject(
  node: ObjectNode,
  text: string,
  position: number,
  path: Path,
): CursorPlace | undefined {
  if (!isInside(node, text, position)) return undefined
  const taken = (besides?: string) =>
    node.members.map(({ key }) => key).filter((key) => key !== besides)
  for (const { key, keyFrom, keyTo, value } of node.members) {
    if (position > keyFrom && position <= keyTo)
      return token({ from: keyFrom, to: keyTo }, 'name', text, position, path, taken(key))
    if (value !== undefined && touches(value, text, position))
      return placeIn(value, text, position, [...path, key])
  }
  const before = lastChar(text, position)
  if (before === '{' || before === ',') return gap('name', position, path, taken())
  if (before !== ':') return undefined
  const member = node.members.findLast(({ keyTo }) => keyTo < position)
  return member && gap('value', position, [...path, member.key])
}

function gap(
  at: 'name' | 'value',
  position: number,
  path: Path,
  taken: readonly string[] = [],
): CursorPlace {
  return { path, at, from: position, to: position, typed: '', taken }
}

function token(
  { from, to }: { readonly from: number; readonly to: number },
  at: 'name' | 'value',
  text: string,
  position: number,
  path: Path,
  taken: readonly string[],
): CursorPlace {
  const typed = text.slice(from, position).replace(/^["']/, '')
  return { path, at, from, to, typed, taken }
}

/**
 * Whether the cursor is in or directly after a value. The end of a string or number belongs to the
 * value, because the user may still be typing it.
 */
function touches(node: JsonNode, text: string, position: number): boolean {
  if (node.kind === 'object' || node.kind === 'array') return isInside(node, text, position)
  return position > node.from && position <= node.to
}

/**
 * Whether the cursor is between the brackets of an object or array. If the closing bracket is
 * missing, the node extends to the end of the text.
 */
function isInside(node: JsonNode, text: string, position: number): boolean {
  if (position <= node.from) return false
  const isClosed = node.to - node.from > 1 && /[\]}]/.test(text.charAt(node.to - 1))
  return isClosed ? position < node.to : position <= node.to
}

function lastChar(text: string, position: number): string {
  return text.slice(0, position).trimEnd().slice(-1)
}
