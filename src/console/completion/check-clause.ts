/** Marks the parts of a clause that the server would reject. */
import { readTree, type JsonNode, type ObjectNode } from '../json/json-tree.ts'
import type { Check, Mark } from '../kit/editor-text.ts'
import {
  isExtended,
  operatorsAt,
  rootShape,
  shapeWithin,
  type ClauseContext,
  type Shape,
} from './clause-shape.ts'
import type { Operator } from './operators.ts'

/**
 * Returns a function that checks the text of a clause. For invalid JSON, it returns no
 * marks, because the editor reports the syntax error.
 */
export function checkClause(context: ClauseContext): Check {
  return (text) => {
    const { root, mistakes } = readTree(text)
    if (root === undefined || mistakes.length > 0) return []
    if (root.kind !== 'object')
      return [{ from: root.from, to: root.to, message: 'Write an object here.' }]
    const marks: Mark[] = []
    visit(root, rootShape(context), context, marks)
    return marks
  }
}

function visit(node: JsonNode, shape: Shape, context: ClauseContext, marks: Mark[]): void {
  const complaint = complaintAbout(node, shape, context)
  if (complaint !== undefined)
    marks.push({ from: node.from, to: node.to, message: complaint })
  else if (node.kind === 'object') visitObject(node, shape, context, marks)
  else if (node.kind === 'array')
    node.elements.forEach((element, at) =>
      visit(element, shapeWithin(shape, at, context), context, marks),
    )
}

function visitObject(
  node: ObjectNode,
  shape: Shape,
  context: ClauseContext,
  marks: Mark[],
): void {
  const names = node.members.map(({ key }) => key)
  if (isValue(shape, names)) return
  for (const { key, keyFrom, keyTo, value } of node.members) {
    const message = complaintAboutName(key, shape, context)
    if (message !== undefined) marks.push({ from: keyFrom, to: keyTo, message })
    else if (value !== undefined)
      visit(value, shapeWithin(shape, key, context), context, marks)
  }
}

/**
 * Whether an object is a value and not an object of operators. The check ignores the contents of
 * values.
 */
function isValue(shape: Shape, names: readonly string[]): boolean {
  if (shape.kind === 'condition')
    return isExtended(names) || !names.some((name) => name.startsWith('$'))
  return ['document', 'operand', 'value', 'open', 'direction'].includes(shape.kind)
}

function complaintAboutName(
  name: string,
  shape: Shape,
  context: ClauseContext,
): string | undefined {
  const operators = operatorsAt(shape, context)
  const isKnown = operators.some((operator) => operator.name === name)
  switch (shape.kind) {
    case 'filter':
      if (isKnown || ['$vector', '$vectorize', '$lexical'].includes(name)) break
      if (name.startsWith('$')) return unknown(name, 'a filter operator', operators)
      return unknownColumn(name, context)
    case 'condition':
      return isKnown
        ? undefined
        : unknown(name, 'a filter operator for this value', operators)
    case 'update':
      return isKnown ? undefined : unknown(name, 'an update operator', operators)
    case 'options':
      return isKnown || operators.length === 0
        ? undefined
        : unknown(name, `an option of ${context.command}`, operators)
    case 'shown':
      return isKnown || !name.startsWith('$')
        ? undefined
        : unknown(name, 'a projection operator', operators)
    case 'sort':
      if (['$vector', '$vectorize', '$lexical', '$hybrid'].includes(name)) break
      if (name.startsWith('$')) return `${name} cannot be used in a sort.`
      return unknownColumn(name, context)
    case 'changes':
      return unknownColumn(name, context)
    default:
  }
  return undefined
}

function unknown(name: string, what: string, known: readonly Operator[]): string {
  return (
    `${name} is not ${what}. Known: ` +
    `${known.map((operator) => operator.name).join(', ')}.`
  )
}

function unknownColumn(name: string, { list }: ClauseContext): string | undefined {
  if (list.kind === 'collection' || list.fields.some(({ path }) => path === name))
    return undefined
  return `The table has no column ${name}.`
}

function complaintAbout(
  node: JsonNode,
  shape: Shape,
  { list }: ClauseContext,
): string | undefined {
  switch (shape.kind) {
    case 'filter':
      return node.kind === 'object' ? undefined : 'A filter must be an object.'
    case 'filters':
      return node.kind === 'array' ? undefined : 'Write an array of filters here.'
    case 'condition':
      if (node.kind === 'array')
        return 'To compare with an array, use { "$eq": […] } or { "$in": […] }.'
      return undefined
    case 'direction': {
      const isSearch = shape.field.startsWith('$') || list.kind === 'table'
      if (isSearch || (node.kind === 'number' && Math.abs(Number(node.text)) === 1))
        return undefined
      return 'A sort must be 1 (ascending) or -1 (descending).'
    }
    case 'shown':
      return node.kind === 'string' || node.kind === 'array'
        ? 'A projection must be 1, 0 or { "$slice": … }.'
        : undefined
    case 'changes':
      return node.kind === 'object' ? undefined : 'Write an object of fields here.'
    case 'operand':
      return complaintAboutOperand(node, shape.operator)
    default:
      return undefined
  }
}

function complaintAboutOperand(
  node: JsonNode,
  { name, takes }: Operator,
): string | undefined {
  if (takes === 'array' && node.kind !== 'array') return `${name} requires an array.`
  if (takes === 'boolean' && !(node.kind === 'word' && node.value !== null))
    return `${name} must be true or false.`
  if (takes === 'count' && !(node.kind === 'number' && /^\d+$/.test(node.text)))
    return `${name} requires a whole number.`
  if (takes === 'text' && node.kind !== 'string') return `${name} requires a string.`
  if (takes === 'number' && name !== '$slice' && node.kind !== 'number')
    return `${name} requires a number.`
  return undefined
}
