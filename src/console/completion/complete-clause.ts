/**
 * Completion in a clause editor: names, operators and values that are valid at the cursor.
 */
import { readTree } from '../json/json-tree.ts'
import type { Complete, Proposal, Proposals } from '../kit/editor-text.ts'
import {
  fieldsAt,
  operatorsAt,
  rootShape,
  shapeWithin,
  type ClauseContext,
  type Shape,
} from './clause-shape.ts'
import { cursorPlace, type CursorPlace } from './cursor-place.ts'
import type { Field } from './field-paths.ts'
import type { Operator } from './operators.ts'

/** Maximum number of proposals: a longer list is not useful. */
const proposalsMax = 60

export function completeClause(context: ClauseContext): Complete {
  return (text, position) => {
    if (text.trim() === '') return proposeRoot(position)
    const place = cursorPlace(readTree(text).root, text, position)
    if (place === undefined) return undefined
    const shape = place.path.reduce<Shape>(
      (above, step) => shapeWithin(above, step, context),
      rootShape(context),
    )
    return place.at === 'name'
      ? proposeNames(shape, place, text, context)
      : proposeValues(shape, place, context)
  }
}

function proposeRoot(position: number): Proposals {
  return { from: position, options: [{ label: '{}', detail: 'an object', kind: 'value' }] }
}

function proposeNames(
  shape: Shape,
  place: CursorPlace,
  text: string,
  context: ClauseContext,
): Proposals {
  const hasColon = /^\s*:/.test(text.slice(place.to))
  const write = (name: string, value: string) =>
    hasColon ? JSON.stringify(name) : `${JSON.stringify(name)}: ${value}`
  const options: Proposal[] = [
    ...fieldsAt(shape, context).map((field): Proposal => ({
      label: field.path,
      insert: write(field.path, shape.kind === 'sort' ? startOfSort(field.path) : ''),
      detail: describe(field),
      kind: 'field',
    })),
    ...operatorsAt(shape, context).map((operator): Proposal => ({
      label: operator.name,
      insert: write(operator.name, startOf(operator, shape)),
      detail: operator.says,
      kind: 'operator',
    })),
  ].filter(({ label }) => !place.taken.includes(label))
  return { from: place.from, to: place.to, options: ranked(options, place.typed) }
}

/** The initial operand that completion inserts after an operator. */
function startOf({ takes, name }: Operator, shape: Shape): string {
  if (shape.kind === 'filter') return name === '$not' ? '{}' : '[{}]'
  if (shape.kind === 'update') return '{}'
  return takes === 'array' ? '[]' : takes === 'text' ? '""' : ''
}

function startOfSort(path: string): string {
  if (path === '$vector') return '[]'
  return ['$vectorize', '$lexical', '$hybrid'].includes(path) ? '""' : '1'
}

function describe({ types, share }: Field): string {
  const seen = share > 0 && share < 1 ? `${Math.max(1, Math.round(share * 100))}%` : ''
  return [types.slice(0, 3).join(' | '), seen].filter((part) => part !== '').join(', ')
}

function proposeValues(
  shape: Shape,
  place: CursorPlace,
  context: ClauseContext,
): Proposals | undefined {
  const options = valuesAt(shape, context)
  if (options.length === 0) return undefined
  return { from: place.from, to: place.to, options: ranked(options, place.typed) }
}

function valuesAt(shape: Shape, context: ClauseContext): Proposal[] {
  const { list } = context
  switch (shape.kind) {
    case 'direction':
      return shape.field.startsWith('$')
        ? []
        : [value('1', 'ascending'), value('-1', 'descending')]
    case 'shown':
      return [
        value('1', 'include'),
        value('0', 'exclude'),
        ...(list.kind === 'table' ? [] : [value('{ "$slice": 1 }', 'some elements')]),
      ]
    case 'condition':
      return [
        ...valuesOf(shape.field, context),
        ...operatorsAt(shape, context).map(({ name, says, takes }) =>
          value(
            `{ "${name}": ${takes === 'array' ? '[]' : takes === 'text' ? '""' : ''} }`,
            says,
            name,
          ),
        ),
      ]
    case 'value':
      return valuesOf(shape.field, context)
    case 'operand':
      return operands(shape.operator, shape.field, context)
    default:
      return []
  }
}

function operands(
  { takes, name }: Operator,
  field: string,
  context: ClauseContext,
): Proposal[] {
  if (name === 'returnDocument') return [value('"after"'), value('"before"')]
  if (name === '$currentDate') return [value('true')]
  if (name === '$unset') return [value('""')]
  if (takes === 'boolean') return [value('true'), value('false')]
  return takes === 'any' ? valuesOf(field, context) : []
}

/** Values of the field in the sampled documents. */
function valuesOf(path: string, { list }: ClauseContext): Proposal[] {
  const field = list.fields.find((one) => one.path === path)
  if (field === undefined) return []
  if (field.types.includes('boolean')) return [value('true'), value('false')]
  return field.values.map((text) => value(text, 'frequent value'))
}

function value(insert: string, detail?: string, label = insert): Proposal {
  return { label, insert, kind: 'value', ...(detail === undefined ? {} : { detail }) }
}

/** The proposals that contain the typed text, with matches at the start first. */
function ranked(options: readonly Proposal[], typed: string): Proposal[] {
  const wanted = typed.toLowerCase()
  if (wanted === '') return options.slice(0, proposalsMax)
  const bare = ({ label }: Proposal) => label.toLowerCase().replace(/^"/, '')
  const first = options.filter((option) => bare(option).startsWith(wanted))
  const others = options.filter(
    (option) => !bare(option).startsWith(wanted) && bare(option).includes(wanted),
  )
  return [...first, ...others].slice(0, proposalsMax)
}
