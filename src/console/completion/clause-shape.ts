/** The shapes of clauses and of their parts, for completion and for checks. */
import type { Field, FieldList } from './field-paths.ts'
import {
  columnOperators,
  extendedNames,
  filterOperators,
  logicalOperators,
  optionsOf,
  rowUpdateOperators,
  updateOperators,
  type Operator,
} from './operators.ts'

export type Clause = 'filter' | 'sort' | 'projection' | 'update' | 'document' | 'options'

export type Shape =
  /** An object of field names, and `$and`, `$or`, `$not`. */
  | { readonly kind: 'filter' }
  | { readonly kind: 'filters' }
  /** A value for equality, or an object of operators. */
  | { readonly kind: 'condition'; readonly field: string }
  | { readonly kind: 'sort' }
  | { readonly kind: 'direction'; readonly field: string }
  | { readonly kind: 'projection' }
  | { readonly kind: 'shown'; readonly field: string }
  | { readonly kind: 'update' }
  | { readonly kind: 'changes'; readonly operator: Operator }
  | { readonly kind: 'document'; readonly names: readonly string[] }
  | { readonly kind: 'options' }
  /** The operand of an operator, and the field that it applies to, if any. */
  | { readonly kind: 'operand'; readonly operator: Operator; readonly field: string }
  | { readonly kind: 'value'; readonly field: string }
  /** Any value: the console does not know its shape. */
  | { readonly kind: 'open' }

export interface ClauseContext {
  readonly clause: Clause
  /** Name of the command, such as `find`; it determines the options and sorts. */
  readonly command: string
  readonly list: FieldList
}

export function rootShape({ clause }: ClauseContext): Shape {
  return clause === 'document' ? { kind: 'document', names: [] } : { kind: clause }
}

/** The shape of a member of an object, or of an element of an array. */
export function shapeWithin(
  shape: Shape,
  step: string | number,
  context: ClauseContext,
): Shape {
  const open: Shape = { kind: 'open' }
  if (typeof step === 'number') {
    if (shape.kind === 'filters') return { kind: 'filter' }
    return shape.kind === 'operand' && shape.operator.takes === 'array'
      ? { kind: 'value', field: shape.field }
      : open
  }
  switch (shape.kind) {
    case 'filter':
      if (step === '$and' || step === '$or') return { kind: 'filters' }
      return step === '$not' ? shape : { kind: 'condition', field: step }
    case 'condition': {
      const operator = operatorsAt(shape, context).find(({ name }) => name === step)
      if (operator === undefined) return open
      if (['$keys', '$values'].includes(step)) return shape
      return { kind: 'operand', operator, field: shape.field }
    }
    case 'sort':
      return { kind: 'direction', field: step }
    case 'projection':
      return { kind: 'shown', field: step }
    case 'update': {
      const operator = operatorsAt(shape, context).find(({ name }) => name === step)
      return operator === undefined ? open : { kind: 'changes', operator }
    }
    case 'changes':
      return { kind: 'operand', operator: shape.operator, field: step }
    case 'document':
      return { kind: 'document', names: [...shape.names, step] }
    case 'options': {
      const operator = operatorsAt(shape, context).find(({ name }) => name === step)
      return operator === undefined ? open : { kind: 'operand', operator, field: '' }
    }
    case 'shown':
      return { kind: 'operand', operator: slice, field: shape.field }
    default:
      return open
  }
}

const slice: Operator = {
  name: '$slice',
  says: 'some elements of an array',
  takes: 'number',
}

/** The operators that can be names in an object of this shape. */
export function operatorsAt(
  shape: Shape,
  { list, command }: ClauseContext,
): readonly Operator[] {
  const isTable = list.kind === 'table'
  switch (shape.kind) {
    case 'filter':
      return logicalOperators
    case 'condition':
      if (isTable) return columnOperators
      if (shape.field === '$lexical') return pick(filterOperators, ['$match'])
      if (shape.field.startsWith('$vector')) return pick(filterOperators, ['$exists'])
      return filterOperators.filter(({ name }) => name !== '$match')
    case 'update':
      return isTable ? rowUpdateOperators : updateOperators
    case 'shown':
      return isTable ? [] : [slice]
    case 'options':
      return optionsOf(command)
    default:
      return []
  }
}

function pick(operators: readonly Operator[], names: readonly string[]): Operator[] {
  return operators.filter(({ name }) => names.includes(name))
}

/** The fields that can be names in an object of this shape. */
export function fieldsAt(shape: Shape, context: ClauseContext): readonly Field[] {
  const { list } = context
  switch (shape.kind) {
    case 'filter':
      return [...list.fields, ...searchFields(list, ['$lexical', '$vector', '$vectorize'])]
    case 'sort':
      return context.command === 'findAndRerank'
        ? [special('$hybrid', 'search by meaning and by words')]
        : [...list.fields, ...searchFields(list, ['$vectorize', '$vector', '$lexical'])]
    case 'projection':
      return [
        ...list.fields,
        ...searchFields(list, ['$vector', '$vectorize', '$lexical']),
        special('*', 'all fields'),
      ]
    case 'changes':
      return ['$set', '$unset', '$setOnInsert'].includes(shape.operator.name)
        ? [...list.fields, ...searchFields(list, ['$vector', '$vectorize', '$lexical'])]
        : list.fields
    case 'document': {
      const depth = shape.names.length
      const below = list.fields
        .filter(
          ({ names }) =>
            names.length === depth + 1 &&
            shape.names.every((name, at) => names[at] === name),
        )
        .map((field) => ({ ...field, path: field.names.at(-1)! }))
      return depth > 0
        ? below
        : [
            ...below,
            ...searchFields(list, ['$vector', '$vectorize', '$lexical', '$hybrid']),
          ]
    }
    default:
      return []
  }
}

/** The search fields among `names` that the collection has. */
function searchFields(list: FieldList, names: readonly string[]): Field[] {
  const has: Readonly<Record<string, boolean>> = {
    $vector: list.hasVector,
    $vectorize: list.hasService,
    $lexical: list.hasLexical,
    $hybrid: list.hasService && list.hasLexical,
  }
  const says: Readonly<Record<string, string>> = {
    $vector: 'vector',
    $vectorize: 'text, searched by meaning',
    $lexical: 'text, searched by words',
    $hybrid: 'text, searched by meaning and by words',
  }
  return names.filter((name) => has[name]).map((name) => special(name, says[name]!))
}

function special(path: string, type: string): Field {
  return { path, names: [path], types: [type], share: 0, values: [] }
}

/** Whether an object with these names is an extended JSON value and not an object of operators. */
export function isExtended(names: readonly string[]): boolean {
  return names.length === 1 && extendedNames.includes(names[0]!)
}
