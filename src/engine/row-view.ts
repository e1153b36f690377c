/**
 * How filters, sorts, indexes and searches see the rows of a table: each column as what its
 * values compare by (language/columns/comparable.ts), under the path of language/columns/column-path.ts.
 */
import assert from 'node:assert/strict'
import { entriesOf } from '../language/columns/collections.ts'
import type {
  ElementType,
  TextFolding,
  UserTypes,
} from '../language/columns/column-type.ts'
import { columnPath } from '../language/columns/column-path.ts'
import {
  comparable,
  comparableEntry,
  comparableVector,
} from '../language/columns/comparable.ts'
import { foldText } from '../language/columns/fold-text.ts'
import { keyText } from '../language/columns/key-text.ts'
import { storedFields } from '../json/stored-fields.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { StoredRecord } from './contract.ts'
import type { RecordView, TextField, VectorField } from './record-view.ts'
import type { Column, RegularIndex, Table } from './schema.ts'

export class RowView implements RecordView {
  readonly kind = 'row'
  readonly vectors: ReadonlyMap<string, VectorField>
  readonly texts: ReadonlyMap<string, TextField>
  readonly #key: readonly KeyColumn[]
  readonly #keyNames: ReadonlySet<string>
  readonly #sights = new Map<string, Sight>()
  readonly #indexed: ReadonlySet<string>
  readonly #written: ReadonlySet<string>
  /** What was asked for is asked again: the columns that names are made of. */
  readonly #columnsOf = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>()

  constructor({ definition, types }: Pick<Table, 'definition' | 'types'>) {
    const { columns, partitionBy, partitionSort, indexes } = definition
    const named = new Map(columns.map((column) => [column.name, column]))
    this.#key = [
      ...partitionBy.map((name) => ({ column: named.get(name)!, direction: 1 as const })),
      ...partitionSort.map(({ column, direction }) => {
        return { column: named.get(column)!, direction }
      }),
    ].map(({ column, direction }) => {
      return { name: column.key, direction, see: scalarSight(column, types) }
    })
    this.#keyNames = new Set(this.#key.map(({ name }) => name))
    for (const column of columns)
      for (const sight of sightsOf(column, types)) this.#sights.set(sight.path, sight)
    const regular = indexes.filter((index) => index.kind === 'regular')
    for (const index of regular) this.#addFolded(index, named.get(index.column)!)
    this.#indexed = new Set(
      regular.map(({ column, part, folding }) => {
        return columnPath(named.get(column)!.id, part, folding !== undefined).text
      }),
    )
    const texts = indexes.filter((index) => index.kind === 'text')
    this.texts = new Map(
      texts.map(({ id, column, analyzer }) => {
        return [columnPath(named.get(column)!.id).text, { suffix: suffixOf(id), analyzer }]
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

  fields(text: string, names: ReadonlySet<string>): JsonObject {
    return this.see(text, names)
  }

  see(text: string, names: ReadonlySet<string>): JsonObject {
    return this.#look(storedFields(text, this.#needed(names)), names)
  }

  /** Texts that are searched by terms come with it, though their index is another. */
  indexed(record: string | JsonObject): JsonObject {
    if (typeof record === 'string') return this.see(record, this.#written)
    const kept: JsonObject = new Map()
    for (const name of this.#indexed) {
      const value = record.get(name)
      if (value !== undefined) kept.set(name, value)
    }
    return kept
  }

  /** The same of a row that is not yet a text. */
  indexedRow(row: JsonObject): JsonObject {
    return this.#look(row, this.#written)
  }

  covers(path: string): boolean {
    return this.#indexed.has(path)
  }

  idOf(text: string): string {
    return this.idOfRow(storedFields(text, this.#keyNames))
  }

  /** By its key, whose columns the row must have. */
  idOfRow(row: JsonObject): string {
    return keyText(
      this.#key.map(({ name, direction, see }) => {
        return { value: see(row.get(name)!)!, direction }
      }),
    )
  }

  vectorOf({ search }: StoredRecord, path: string): Float32Array | undefined {
    return search?.vectors?.get(path)
  }

  textOf({ text }: StoredRecord, path: string): string | undefined {
    const value = this.see(text, new Set([path])).get(path)
    return typeof value === 'string' ? value : undefined
  }

  #addFolded({ part, folding }: RegularIndex, column: Column): void {
    if (folding === undefined) return
    const plain = this.#sights.get(columnPath(column.id, part).text)!
    const path = columnPath(column.id, part, true).text
    this.#sights.set(path, {
      ...plain,
      path,
      see: (stored) => folded(plain.see(stored), folding),
    })
  }

  #needed(names: ReadonlySet<string>): ReadonlySet<string> {
    let columns = this.#columnsOf.get(names)
    if (columns === undefined) {
      const needed = new Set<string>()
      for (const name of names)
        if (name === '_id') for (const key of this.#keyNames) needed.add(key)
        else {
          const sight = this.#sights.get(name)
          if (sight !== undefined) needed.add(sight.name)
        }
      this.#columnsOf.set(names, (columns = needed))
    }
    return columns
  }

  #look(row: JsonObject, names: ReadonlySet<string>): JsonObject {
    const seen: JsonObject = new Map()
    for (const name of names) {
      if (name === '_id') {
        seen.set('_id', this.idOfRow(row))
        continue
      }
      const sight = this.#sights.get(name)
      const stored = sight && row.get(sight.name)
      if (stored !== undefined) seen.set(name, sight!.see(stored))
    }
    return seen
  }
}

/** What tells the parts of a store apart that belong to a column or an index, by its id. */
export function suffixOf(id: number): string {
  assert(Number.isSafeInteger(id), 'the id of a column or index is a number')
  return `_${id}`
}

interface KeyColumn {
  /** What stored rows call it. */
  readonly name: string
  readonly direction: 1 | -1
  readonly see: See
}

/** A way of looking at a column. */
interface Sight {
  readonly path: string
  /** What stored rows call the column. */
  readonly name: string
  readonly see: See
}

type See = (stored: Value) => Value

/** User types are seen by no filter, and vectors only where they are part of the key. */
function sightsOf(column: Column, types: UserTypes): Sight[] {
  const { id, key: name, type } = column
  const { text: path } = columnPath(id)
  switch (type.type) {
    case 'userDefined':
      return []
    case 'list':
    case 'set':
      return [{ path, name, see: (stored) => elements(type.valueType, stored, types) }]
    case 'map': {
      const { keyType, valueType } = type
      const keys: See = (stored) =>
        entriesOf(stored).map(([key]) => comparable(keyType, key, types))
      const values: See = (stored) =>
        entriesOf(stored).map(([, value]) => comparable(valueType, value, types))
      const entries: See = (stored) =>
        entriesOf(stored).map(([key, value]) =>
          comparableEntry(
            comparable(keyType, key, types),
            comparable(valueType, value, types),
          ),
        )
      return [
        { path, name, see: entries },
        { path: columnPath(id, 'keys').text, name, see: keys },
        { path: columnPath(id, 'values').text, name, see: values },
      ]
    }
    default:
      return [{ path, name, see: scalarSight(column, types) }]
  }
}

/** Of a column that has a single value. */
function scalarSight({ type }: Column, types: UserTypes): See {
  switch (type.type) {
    case 'vector':
      return (stored) => comparableVector(stored as number[])
    case 'list':
    case 'set':
    case 'map':
      return () => null
    case 'userDefined':
      return (stored) => comparable(type, stored, types)
    default:
      return (stored) => comparable(type.type, stored, types)
  }
}

function elements(type: ElementType, stored: Value, types: UserTypes): Value[] {
  return (stored as Value[]).map((element) => comparable(type, element, types))
}

function folded(seen: Value, folding: TextFolding): Value {
  if (Array.isArray(seen)) return seen.map((text) => foldText(text as string, folding))
  return foldText(seen as string, folding)
}
