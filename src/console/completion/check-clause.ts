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
 * Returns the check of a clause. Text that is not JSON gets no marks from it: the editor
 * reports the syntax error.
 */
export function checkClause(context: ClauseContext): Check {
  return (text) => {
    const { root, mistakes } = readTree(text)
    if (root === undefined || mistakes.length > 0) return []
    if (root.kind !== 'object')
      return [{ from: root.from, to: root.to, message: 'An object is expected here.' }]
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

/** Whether an object is a value rather than operators; values are not checked further. */
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
      if (name.startsWith('$')) return unknown(name, 'filter operator', operators)
      return unknownColumn(name, context)
    case 'condition':
      return isKnown ? undefined : unknown(name, 'filter operator here', operators)
    case 'update':
      return isKnown ? undefined : unknown(name, 'update operator', operators)
    case 'options':
      return isKnown || operators.length === 0
        ? undefined
        : unknown(name, `option of ${context.command}`, operators)
    case 'shown':
      return isKnown || !name.startsWith('$')
        ? undefined
        : unknown(name, 'projection operator', operators)
    case 'sort':
      if (['$vector', '$vectorize', '$lexical', '$hybrid'].includes(name)) break
      if (name.startsWith('$')) return `${name} is nothing to sort by.`
      return unknownColumn(name, context)
    case 'changes':
      return unknownColumn(name, context)
    default:
  }
  return undefined
}

function unknown(name: string, what: string, known: readonly Operator[]): string {
  return `${name} is no ${what}. Known: ${known.map((operator) => operator.name).join(', ')}.`
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
      return node.kind === 'object' ? undefined : 'A filter is an object.'
    case 'filters':
      return node.kind === 'array' ? undefined : 'An array of filters is expected here.'
    case 'condition':
      if (node.kind === 'array')
        return 'An array is compared by { "$eq": […] }, or { "$in": […] }.'
      return undefined
    case 'direction': {
      const isSearch = shape.field.startsWith('$') || list.kind === 'table'
      if (isSearch || (node.kind === 'number' && Math.abs(Number(node.text)) === 1))
        return undefined
      return 'A sort is 1, for ascending, or -1, for descending.'
    }
    case 'shown':
      return node.kind === 'string' || node.kind === 'array'
        ? 'A projection is 1 or 0, or { "$slice": … }.'
        : undefined
    case 'changes':
      return node.kind === 'object' ? undefined : 'An object of fields is expected here.'
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
  if (takes === 'array' && node.kind !== 'array') return `${name} takes an array.`
  if (takes === 'boolean' && !(node.kind === 'word' && node.value !== null))
    return `${name} is true or false.`
  if (takes === 'count' && !(node.kind === 'number' && /^\d+$/.test(node.text)))
    return `${name} takes a whole number.`
  if (takes === 'text' && node.kind !== 'string') return `${name} takes a text.`
  if (takes === 'number' && name !== '$slice' && node.kind !== 'number')
    return `${name} takes a number.`
  return undefined
}
