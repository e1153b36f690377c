/**
 * Presents the rows of a table to filters, sorts, indexes and searches: each column as comparable
 * values (language/columns/comparable.ts), under its path (column-path.ts).
 *
 * A row is stored as JSON: its values by the keys of their columns. Its id is its primary key as a
 * text (key-text.ts).
 */
import { storedFields } from '../../../json/stored-fields.ts'
import type { JsonObject, Value } from '../../../json/value.ts'
import { isCollection } from '../../../language/columns/collections.ts'
import type { Column, ColumnPart } from '../../../language/columns/column.ts'
import type { UserTypes } from '../../../language/columns/column-type.ts'
import type { ComparableFields } from '../../../language/columns/comparable-filter.ts'
import {
  comparableParts,
  comparableScalar,
  foldedComparable,
  type ToComparable,
} from '../../../language/columns/comparable-values.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { StoredRecord } from '../../contract.ts'
import { hasFloats, isShownAsStored } from '../../../language/columns/values.ts'
import type { RecordView, TextField, VectorField } from '../../record-view.ts'
import { columnsInOrder, type RegularIndex } from '../../schema.ts'
import { suffixOf, type StoredColumn, type StoredTable } from '../schema/stored-schema.ts'
import type { RowFields } from './doc-row.ts'
import { columnPath } from '../schema/column-path.ts'
import { FieldKeys } from '../schema/field-keys.ts'
import { keyText } from '../schema/key-text.ts'

export class RowView implements RecordView, ComparableFields {
  readonly kind = 'row'
  readonly table: Pick<StoredTable, 'definition' | 'types'>
  readonly fieldKeys: FieldKeys
  /** User-defined types of stored values, whose fields have their keys as names. */
  readonly types: UserTypes
  /** Columns of the primary key, in key order. */
  readonly key: readonly KeyColumn[]
  readonly vectors: ReadonlyMap<string, VectorField>
  readonly texts: ReadonlyMap<string, TextField>
  /** All columns in display order. */
  readonly layout: readonly StoredColumn[]
  /** Columns whose values contain floating-point numbers. */
  readonly floatColumns: readonly StoredColumn[]
  readonly #columns: ReadonlyMap<string, StoredColumn>
  /** Results of `shown` by list of columns, cached because the same lists recur. */
  readonly #shown = new WeakMap<readonly Column[], ShownColumns>()
  readonly #keyNames: ReadonlySet<string>
  /** Comparable fields by path. */
  readonly #fields = new Map<string, ComparableField>()
  readonly #regular: readonly RegularIndex[]
  readonly #indexed: ReadonlySet<string>
  readonly #written: ReadonlySet<string>
  /** Keys of the columns for a set of paths, cached because the same sets recur. */
  readonly #storedNamesOf = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>()

  constructor(table: Pick<StoredTable, 'definition' | 'types'>) {
    const { definition } = table
    const { columns, partitionBy, partitionSort, indexes } = definition
    this.table = table
    this.fieldKeys = new FieldKeys(table.types)
    const { types } = this.fieldKeys
    this.types = types
    this.#columns = new Map(columns.map((column) => [column.name, column]))
    this.layout = columnsInOrder(definition)
    this.floatColumns = columns.filter(({ type }) => hasFloats(type, types))
    const keyColumn = (name: string, direction: 1 | -1): KeyColumn => {
      const column = this.column({ name })
      return { column, direction, toComparable: comparableScalar(column, types) }
    }
    this.key = [
      ...partitionBy.map((name) => keyColumn(name, 1)),
      ...partitionSort.map(({ column, direction }) => keyColumn(column, direction)),
    ]
    this.#keyNames = new Set(this.key.map(({ column }) => column.key))
    for (const column of columns)
      for (const [part, toComparable] of comparableParts(column, types))
        this.#addField(columnPath(column.id, part).text, column, toComparable)
    this.#regular = indexes.filter((index) => index.kind === 'regular')
    for (const { column, part, folding } of this.#regular) {
      if (folding === undefined) continue
      const { id } = this.column({ name: column })
      const { column: stored, toComparable } = this.#fields.get(columnPath(id, part).text)!
      const folded = foldedComparable(toComparable, folding)
      this.#addField(columnPath(id, part, true).text, stored, folded)
    }
    this.#indexed = new Set(
      this.#regular.map(({ column, part, folding }) => {
        return this.path({ name: column }, part, folding !== undefined).text
      }),
    )
    const texts = indexes.filter((index) => index.kind === 'text')
    this.texts = new Map(
      texts.map(({ id, column, analyzer }) => {
        return [this.path({ name: column }).text, { suffix: suffixOf(id), analyzer }]
      }),
    )
    const vectorIndexes = indexes.filter((index) => index.kind === 'vector')
    this.vectors = new Map(
      columns.flatMap(({ id, name, type }): [string, VectorField][] => {
        if (type.type !== 'vector') return []
        const metric = vectorIndexes.find(({ column }) => column === name)?.metric
        const { dimension } = type
        return [[columnPath(id).text, { suffix: suffixOf(id), dimension, metric }]]
      }),
    )
    this.#written = new Set([...this.#indexed, ...this.texts.keys()])
  }

  /** The stored column for a column of the contract. */
  column({ name }: Pick<Column, 'name'>): StoredColumn {
    return this.#columns.get(name)!
  }

  /** Describes rows that contain only the given columns. `needed` columns are read in addition. */
  shown(columns: readonly Column[], needed: readonly Column[] = []): ShownColumns {
    if (needed.length > 0) return this.#showing(columns, needed)
    let shown = this.#shown.get(columns)
    if (shown === undefined)
      this.#shown.set(columns, (shown = this.#showing(columns, needed)))
    return shown
  }

  isKey({ name }: Pick<Column, 'name'>): boolean {
    return this.key.some(({ column }) => column.name === name)
  }

  /**
   * Whether the vectors of a column are stored beside the rows. Vectors of key columns are in the
   * text.
   */
  isBeside(column: Column): boolean {
    return column.type.type === 'vector' && !this.isKey(column)
  }

  path(column: Pick<Column, 'name'>, part: ColumnPart = 'value', folded = false) {
    return columnPath(this.column(column).id, part, folded)
  }

  folding({ name }: Column, part: ColumnPart) {
    return this.#regular.find((index) => index.column === name && index.part === part)
      ?.folding
  }

  fields(text: string, paths: ReadonlySet<string>): JsonObject {
    return this.see(text, paths)
  }

  see(text: string, paths: ReadonlySet<string>): JsonObject {
    return this.#comparables(storedFields(text, this.#storedNames(paths)), paths)
  }

  /**
   * The indexed fields of a record. For a record in JSON text, the result includes the columns of
   * text indexes, although these have term indexes of their own.
   */
  indexed(record: string | JsonObject): JsonObject {
    if (typeof record === 'string') return this.see(record, this.#written)
    const kept: JsonObject = new Map()
    for (const path of this.#indexed) {
      const value = record.get(path)
      if (value !== undefined) kept.set(path, value)
    }
    return kept
  }

  *indexedInSteps(record: JsonObject): Steps<JsonObject> {
    return this.indexed(record)
  }

  /** The indexed fields of a row, before it is serialized. */
  *indexedRow(row: JsonObject): Steps<JsonObject> {
    const seen: JsonObject = new Map()
    for (const path of this.#indexed) {
      const field = this.#fields.get(path)
      const stored = field && row.get(field.column.key)
      if (stored !== undefined) seen.set(path, yield* comparableOf(field!, stored))
    }
    return seen
  }

  covers(path: string): boolean {
    return this.#indexed.has(path)
  }

  idOf(text: string): string {
    return this.idOfRow(storedFields(text, this.#keyNames))
  }

  /** The id of a row, which must have all columns of its key. */
  idOfRow(row: JsonObject): string {
    return keyText(
      this.key.map(({ column, direction, toComparable }) => {
        return { value: toComparable(row.get(column.key)!), direction }
      }),
    )
  }

  vectorOf({ search }: StoredRecord, path: string): Float32Array | undefined {
    return (search as RowFields | undefined)?.vectors?.get(path)
  }

  textOf({ text }: StoredRecord, path: string): string | undefined {
    const value = this.see(text, new Set([path])).get(path)
    return typeof value === 'string' ? value : undefined
  }

  #showing(columns: readonly Column[], needed: readonly Column[]): ShownColumns {
    const stored = [...columns, ...needed].map((column) => this.column(column))
    const names = [...this.#keyNames, ...stored.map(({ key }) => key)]
    return {
      isWhole: this.#isWhole(columns),
      withVectors: stored.some((column) => this.isBeside(column)),
      names: new Set(names),
    }
  }

  #isWhole(columns: readonly Column[]): boolean {
    const { layout, types } = this
    return (
      columns.length === layout.length &&
      this.table.definition.dropped.length === 0 &&
      layout.every(
        (column, at) =>
          column.name === columns[at]!.name &&
          column.key === column.name &&
          this.fieldKeys.areNames(column.type) &&
          isShownAsStored(column.type, types) &&
          (column.floatsTyped === true || !hasFloats(column.type, types)) &&
          !this.isBeside(column),
      )
    )
  }

  #addField(path: string, column: StoredColumn, toComparable: ToComparable): void {
    this.#fields.set(path, { column, toComparable })
  }

  #storedNames(paths: ReadonlySet<string>): ReadonlySet<string> {
    let names = this.#storedNamesOf.get(paths)
    if (names === undefined) {
      const needed = new Set<string>()
      for (const path of paths)
        if (path === '_id') for (const name of this.#keyNames) needed.add(name)
        else {
          const field = this.#fields.get(path)
          if (field !== undefined) needed.add(field.column.key)
        }
      this.#storedNamesOf.set(paths, (names = needed))
    }
    return names
  }

  #comparables(row: JsonObject, paths: ReadonlySet<string>): JsonObject {
    const seen: JsonObject = new Map()
    for (const path of paths) {
      if (path === '_id') {
        seen.set('_id', this.idOfRow(row))
        continue
      }
      const field = this.#fields.get(path)
      const stored = field && row.get(field.column.key)
      if (stored !== undefined) seen.set(path, field!.toComparable(stored))
    }
    return seen
  }
}

/** The comparable form of a stored value. A long list, set or map is converted in parts. */
function* comparableOf(
  { column, toComparable }: ComparableField,
  stored: Value,
): Steps<Value> {
  if (!isCollection(column.type)) return toComparable(stored)
  const comparables: Value[] = []
  for (const part of partsOf(stored as Value[] | JsonObject)) {
    comparables.push(...(toComparable(part) as Value[]))
    yield
  }
  return comparables
}

/** Elements or entries per part. */
const partSize = 500

function* partsOf(stored: Value[] | JsonObject): Generator<Value> {
  if (Array.isArray(stored)) {
    for (let from = 0; from < stored.length; from += partSize)
      yield stored.slice(from, from + partSize)
    return
  }
  let part: JsonObject = new Map()
  for (const [key, value] of stored) {
    part.set(key, value)
    if (part.size < partSize) continue
    yield part
    part = new Map()
  }
  yield part
}

/** The columns that rows contain, and what has to be read for them. */
export interface ShownColumns {
  /** Whether rows show the stored text unchanged. */
  readonly isWhole: boolean
  /** Whether vectors that are stored beside the text are needed. */
  readonly withVectors: boolean
  /** Keys of the columns to read from the text, including the primary key. */
  readonly names: ReadonlySet<string>
}

export interface KeyColumn {
  readonly column: StoredColumn
  readonly direction: 1 | -1
  readonly toComparable: (value: Value | Float32Array) => Value
}

interface ComparableField {
  readonly column: StoredColumn
  readonly toComparable: ToComparable
}
