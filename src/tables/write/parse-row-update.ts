/** Parses an update of a row. */
import {
  entriesOf,
  isCollection,
  type CollectionType,
} from '../../language/columns/collections.ts'
import { BadValue, readElement, readValue } from '../../language/columns/values.ts'
import type { ElementChange } from '../../engine/contract.ts'
import type { Column } from '../../language/columns/column.ts'
import { apiError } from '../../errors/api-error.ts'
import { list } from '../../errors/catalog-entry.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import { quoteJson } from '../../language/values/quote-json.ts'
import type { Operator } from '../../language/updates/update.ts'
import { Pace, type Steps } from '../../runtime/steps.ts'
import { labelOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import {
  noService,
  readContent,
  type Content,
  type ReadContent,
  type GivenContents,
  type TextToEmbed,
} from './column-content.ts'
import { allColumns, keyColumns, listColumns } from './column-lists.ts'
import { checkKnown, checkValues, updateCodes } from './given-columns.ts'
import { readPush } from './read-push.ts'

export interface RowUpdate {
  /** Columns whose content is replaced. */
  readonly contents: GivenContents
  /** Columns whose elements are changed: lists, sets and maps. */
  readonly elements: ReadonlyMap<Column, ElementChange>
}

/**
 * Parses an update. Each check names all columns that fail it; the next check runs only if no
 * column failed.
 */
export function* parseRowUpdate(store: RowStore, update: Value): Steps<RowUpdate> {
  const actions = resolveColumns(store, readOperators(update))
  checkOperators(store, actions)
  const pushes = new Map(
    actions
      .filter(({ operator }) => operator === '$push')
      .map((action) => [action, readPush(action.column, action.argument)]),
  )
  const contents = new Map<Column, Content | TextToEmbed>()
  const elements = new Map<Column, ElementChange>()
  const invalid: string[] = []
  const unserved: Column[] = []
  for (const action of actions) {
    const { column } = action
    const read = yield* readAction(store, action, pushes.get(action))
    if (read instanceof BadValue) invalid.push(`${labelOf(column)} ${read.problem}`)
    else if (read === noService) unserved.push(column)
    else if (isElementChange(read)) elements.set(column, read)
    else contents.set(column, read)
  }
  checkValues(store, { invalid, unserved }, updateCodes)
  checkColumns(store, actions)
  return { contents, elements }
}

const operators = ['$set', '$unset', '$push', '$pullAll'] as const

type RowOperator = (typeof operators)[number]

/** Update operators for documents that tables do not support. */
const otherOperators: Readonly<Record<Exclude<Operator, RowOperator>, true>> = {
  $addToSet: true,
  $currentDate: true,
  $inc: true,
  $max: true,
  $min: true,
  $mul: true,
  $pop: true,
  $pull: true,
  $rename: true,
  $setOnInsert: true,
}

interface Named {
  readonly operator: RowOperator
  readonly column: string
  readonly argument: Value
}

interface ColumnAction {
  readonly operator: RowOperator
  readonly column: Column
  readonly argument: Value
}

function readOperators(update: Value): readonly Named[] {
  if (!isObject(update))
    throw apiError('UNSUPPORTED_UPDATE_DATA_TYPE', {
      what: 'An update',
      type: jsonTypeOf(update),
    })
  const named: Named[] = []
  const unsupported: string[] = []
  for (const [name, columns] of update) {
    const operator = operators.find((known) => known === name)
    if (operator === undefined && !Object.hasOwn(otherOperators, name))
      throw apiError('UNSUPPORTED_UPDATE_OPERATION', { operator: name, known: operators })
    if (!isObject(columns))
      throw apiError('UNSUPPORTED_UPDATE_DATA_TYPE', {
        what: `The argument of ${name}`,
        type: jsonTypeOf(columns),
      })
    if (operator === undefined) unsupported.push(name)
    else
      for (const [column, argument] of columns) named.push({ operator, column, argument })
  }
  const supported = list(operators)
  if (unsupported.length > 0)
    throw apiError('UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE', {
      supported,
      used: list(unsupported),
    })
  if (named.length === 0) throw apiError('MISSING_UPDATE_OPERATIONS', { supported })
  return named
}

function resolveColumns(store: RowStore, named: readonly Named[]): readonly ColumnAction[] {
  checkKnown(
    store,
    named.map(({ column }) => column),
    updateCodes,
  )
  return named.map(({ operator, column, argument }) => {
    return { operator, column: store.columns.get(column)!, argument }
  })
}

function checkOperators(store: RowStore, actions: readonly ColumnAction[]): void {
  for (const operator of ['$set', '$unset'] as const) {
    const counters = actions.filter(
      (action) => action.operator === operator && action.column.type.type === 'counter',
    )
    if (counters.length > 0)
      throw apiError('UNSUPPORTED_UPDATE_OPERATOR', {
        reason: 'counter',
        operator,
        used: listColumns(columnsOf(counters)),
      })
  }
  for (const operator of ['$push', '$pullAll'] as const) {
    const unfit = actions.filter(
      ({ operator: used, column }) =>
        used === operator && (column.isFrozen === true || !isCollection(column.type)),
    )
    if (unfit.length > 0)
      throw apiError('UNSUPPORTED_UPDATE_OPERATOR', {
        reason: 'whole',
        target: store.name,
        columns: allColumns(store),
        operator,
        used: listColumns(columnsOf(unfit)),
      })
  }
}

/** Checks that each column is updated once, and that no key column is updated. */
function checkColumns(store: RowStore, actions: readonly ColumnAction[]): void {
  const { key, name: target } = store
  const columns = columnsOf(actions)
  const again = columns.filter((column, at) => columns.indexOf(column) !== at)
  if (again.length > 0)
    throw apiError('UNSUPPORTED_OVERLAPPING_UPDATE_OPERATIONS', {
      columns: listColumns(again),
    })
  const ofKey = columns.filter((column) => key.includes(column))
  if (ofKey.length > 0)
    throw apiError('UNSUPPORTED_UPDATE_FOR_PRIMARY_KEY_COLUMNS', {
      target,
      key: keyColumns(store),
      columns: listColumns(ofKey),
    })
}

function columnsOf(actions: readonly ColumnAction[]): readonly Column[] {
  return actions.map(({ column }) => column)
}

type Read = ReadContent | ElementChange

/** Whether the result is a change of elements: only such a change has the member `elements`. */
function isElementChange(read: Exclude<Read, symbol>): read is ElementChange {
  return typeof read === 'object' && read !== null && 'elements' in read
}

/**
 * Reads the new content of a column, or the change of its elements. `pushed` is the unconverted
 * argument of a $push.
 */
function* readAction(
  store: RowStore,
  { operator, column, argument }: ColumnAction,
  pushed: readonly Value[] | undefined,
): Steps<Read> {
  const { types } = store.table
  switch (operator) {
    case '$set':
      return yield* readContent(store, column, argument)
    case '$unset':
      return undefined
    case '$push': {
      const type = column.type as CollectionType
      const added = yield* readEach(pushed!, (value) => readAdded(store, type, value))
      if (added instanceof BadValue) return added
      return { kind: 'add', elements: added }
    }
    case '$pullAll': {
      const type = column.type as CollectionType
      if (!Array.isArray(argument))
        return new BadValue(
          `has the $pullAll argument ${quoteJson(argument)}, which must be an array ` +
            'of the elements to remove',
        )
      const element = type.type === 'map' ? type.keyType : type.valueType
      const removed = yield* readEach(argument, (value) =>
        readElement(element, value, types),
      )
      if (removed instanceof BadValue) return removed
      return { kind: 'remove', elements: removed }
    }
  }
}

function* readEach(
  values: readonly Value[],
  read: (value: Value) => Value | BadValue,
): Steps<readonly Value[] | BadValue> {
  const pace = new Pace()
  const all: Value[] = []
  for (const value of values) {
    if (pace.isDue()) yield
    const stored = read(value)
    if (stored instanceof BadValue)
      return new BadValue(`cannot contain ${quoteJson(value)}, which ${stored.problem}`)
    all.push(stored)
  }
  return all
}

/** Reads an added element, or an added entry of a map. */
function readAdded(
  { table }: RowStore,
  type: CollectionType,
  value: Value,
): Value | BadValue {
  if (type.type !== 'map') return readElement(type.valueType, value, table.types)
  const one = readValue(type, isObject(value) ? value : [value], table.types)
  return one instanceof BadValue ? one : [...entriesOf(one!)[0]!]
}
