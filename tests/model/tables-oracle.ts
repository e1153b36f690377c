/** The model of a table: columns, indexes, and rows in a plain Map. */
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import {
  collected,
  compareElements,
  identityOf,
  mapCell,
  showCell,
  vocabulary,
  type Atom,
  type Cell,
  type ColumnType,
  type Element,
  type ElementType,
  type Entry,
} from './tables-values.ts'

/**
 * A column, identified by its object. If a column is dropped and its name is added again, the new
 * column is another object.
 */
export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export type Part = 'value' | 'keys' | 'values'

export interface Folding {
  readonly ascii: boolean
  readonly caseSensitive: boolean
  readonly normalize: boolean
}

export type Metric = 'cosine' | 'dot_product' | 'euclidean'

export type Index = { readonly name: string; readonly column: Column } & (
  | { readonly kind: 'regular'; readonly part: Part; readonly folding?: Folding }
  | { readonly kind: 'vector'; readonly metric: Metric }
  | { readonly kind: 'text'; readonly analyzer: 'standard' | 'whitespace' }
)

export type Cells = ReadonlyMap<Column, Cell>

/** The state of a row. Immutable: a write replaces the object. */
export interface Row {
  readonly cells: Cells
  /** Whether an insert wrote the row. If not, the row disappears with its last value. */
  readonly wasInserted: boolean
}

/** The values that a write sets; undefined means null. */
export type Given = ReadonlyMap<Column, Cell | undefined>

export class TableOracle {
  readonly partitionBy: readonly Column[]
  readonly partitionSort: readonly { readonly column: Column; readonly direction: 1 | -1 }[]
  readonly key: readonly Column[]
  readonly indexes: Index[] = []
  columns: readonly Column[]
  #dropped: readonly Column[] = []
  readonly #rows = new Map<string, Row>()

  constructor(
    columns: readonly Column[],
    partitionBy: readonly Column[],
    partitionSort: TableOracle['partitionSort'],
  ) {
    this.columns = columns
    this.partitionBy = partitionBy
    this.partitionSort = partitionSort
    this.key = [...partitionBy, ...partitionSort.map(({ column }) => column)]
  }

  get rows(): readonly Row[] {
    return [...this.#rows.values()]
  }

  get size(): number {
    return this.#rows.size
  }

  get dropped(): readonly Column[] {
    return this.#dropped
  }

  has(row: Row): boolean {
    return this.#rows.get(this.keyOf(row.cells)) === row
  }

  isKey(column: Column): boolean {
    return this.key.includes(column)
  }

  /** The key of a row in the Map of rows. */
  keyOf(cells: Cells): string {
    return textOf(cells, this.key)
  }

  partitionOf(row: Row): string {
    return textOf(row.cells, this.partitionBy)
  }

  insert(given: Given): void {
    const key = this.keyOf(given as Cells)
    const cells = withGiven(this.#rows.get(key)?.cells ?? new Map(), given)
    this.#rows.set(key, { cells, wasInserted: true })
  }

  /**
   * Updates or creates a row. `change` gets the cells of the row. For a new row, it gets only the
   * cells of the key.
   */
  update(keyCells: Cells, change: (before: Cells) => Given): void {
    const key = this.keyOf(keyCells)
    const before = this.#rows.get(key) ?? { cells: keyCells, wasInserted: false }
    const cells = withGiven(before.cells, change(before.cells))
    if (before.wasInserted || cells.size > this.key.length)
      this.#rows.set(key, { ...before, cells })
    else this.#rows.delete(key)
  }

  delete(isGone: (row: Row) => boolean): void {
    for (const [key, row] of this.#rows) if (isGone(row)) this.#rows.delete(key)
  }

  addColumn(column: Column): void {
    this.columns = [...this.columns, column]
  }

  /**
   * Removes a column and its values. The caller first deletes rows that would have no value left.
   */
  dropColumn(column: Column): void {
    this.columns = this.columns.filter((other) => other !== column)
    this.#dropped = [...this.#dropped, column]
    for (const [key, row] of this.#rows)
      if (row.cells.has(column))
        this.#rows.set(key, {
          ...row,
          cells: withGiven(row.cells, new Map([[column, undefined]])),
        })
  }

  /** Compares rows by the partition sort. Returns 0 only for rows of different partitions. */
  compareInPartition(a: Row, b: Row): number {
    for (const { column, direction } of this.partitionSort) {
      const order = compareRows(a, b, column)
      if (order !== 0) return order * direction
    }
    return 0
  }

  /** The expected text of some columns of a row in a reply. */
  show(row: Row, columns: readonly Column[]): string {
    const shown = columns.flatMap((column) => {
      const cell = row.cells.get(column)
      return cell === undefined ? [] : [`${column.name}: ${showCell(cell, column.type)}`]
    })
    return shown.sort().join('\n')
  }

  /**
   * A function that normalizes texts as the index on the column, or on a part of the column, does.
   */
  foldingOf(column: Column, part: Part): (text: string) => string {
    const index = this.indexes.find(
      (other) => other.kind === 'regular' && other.column === column && other.part === part,
    )
    const folding = index?.kind === 'regular' ? index.folding : undefined
    return (text) => (folding === undefined ? text : fold(text, folding))
  }

  textIndexOn(column: Column) {
    return this.indexes.find(
      (index): index is Index & { kind: 'text' } =>
        index.kind === 'text' && index.column === column,
    )
  }
}

/**
 * Whether a vector is part of the key. Rows with such keys can be inserted, but a filter cannot
 * select them.
 */
export function hasVectorKey({ key }: TableOracle): boolean {
  return key.some(({ type }) => type.kind === 'vector')
}

/** Compares two rows by a column. Nulls sort first. */
export function compareRows(a: Row, b: Row, column: Column): number {
  const [x, y] = [atomIn(a, column), atomIn(b, column)]
  if (x === undefined || y === undefined)
    return Number(x !== undefined) - Number(y !== undefined)
  return compareElements(x, y, x.type)
}

/** The value of a row in a column, if it is a single value; undefined when null. */
export function atomIn({ cells }: Row, column: Column): Atom | undefined {
  const cell = cells.get(column)
  return cell?.kind === 'one' ? (cell.value as Atom) : undefined
}

/**
 * The cell with added elements: at the end of a list, in a set, or as entries of a map, which
 * replace entries with the same key.
 */
export function pushed(
  cell: Cell | undefined,
  type: ColumnType,
  added: readonly (Element | Entry)[],
): Cell | undefined {
  if (type.kind === 'map')
    return mapCell(type.key, [...entriesIn(cell), ...(added as readonly Entry[])])
  const { kind, of } = type as { kind: 'list' | 'set'; of: ElementType }
  return collected({ kind, of }, [...elementsIn(cell), ...(added as readonly Element[])])
}

/**
 * The cell without the elements that equal one of `removed`; for a map, without the entries with
 * these keys.
 */
export function pulled(
  cell: Cell | undefined,
  type: ColumnType,
  removed: readonly Element[],
): Cell | undefined {
  if (type.kind === 'map') {
    const gone = new Set(removed.map((key) => identityOf(key, type.key)))
    const left = entriesIn(cell).filter(([key]) => !gone.has(identityOf(key, type.key)))
    return mapCell(type.key, left)
  }
  const { kind, of } = type as { kind: 'list' | 'set'; of: ElementType }
  const gone = new Set(removed.map((element) => identityOf(element, of)))
  const left = elementsIn(cell).filter((element) => !gone.has(identityOf(element, of)))
  return collected({ kind, of }, left)
}

export function elementsIn(cell: Cell | undefined): readonly Element[] {
  return cell?.kind === 'list' || cell?.kind === 'set' ? cell.elements : []
}

export function entriesIn(cell: Cell | undefined): readonly Entry[] {
  return cell?.kind === 'map' ? cell.entries : []
}

/** The value of `$similarity`. */
export function similarity(
  metric: Metric,
  a: readonly number[],
  b: readonly number[],
): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, number, i) => sum + number * y[i]!, 0)
  switch (metric) {
    case 'cosine':
      return (1 + dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))) / 2
    case 'dot_product':
      return (1 + dot(a, b)) / 2
    case 'euclidean': {
      const gaps = a.map((number, i) => number - b[i]!)
      return 1 / (1 + dot(gaps, gaps))
    }
  }
}

/**
 * Whether a text contains every word of `words`. Both are divided into words as an index does it.
 */
export function hasWords(
  text: string,
  words: string,
  analyzer: 'standard' | 'whitespace',
  operator: LexicalOperator = 'all',
) {
  const wordsIn = (of: string) =>
    analyzer === 'standard' ? of.toLowerCase().split(/[^a-z0-9]+/) : of.split(/\s+/)
  const known = new Set(wordsIn(text))
  const isKnown = (word: string) => known.has(word)
  return operator === 'all' ? wordsIn(words).every(isKnown) : wordsIn(words).some(isKnown)
}

/** Words for searches, from the vocabulary of texts. */
export const searchedWords = [
  ...vocabulary,
  ...vocabulary.map((word) => word.toUpperCase()),
]

function textOf(cells: Cells, columns: readonly Column[]): string {
  return columns.map((column) => showCell(cells.get(column)!, column.type)).join('\n')
}

function withGiven(cells: Cells, given: Given): Cells {
  const changed = new Map(cells)
  for (const [column, cell] of given)
    if (cell === undefined) changed.delete(column)
    else changed.set(column, cell)
  return changed
}

function fold(text: string, { ascii, caseSensitive, normalize }: Folding): string {
  const composed = normalize ? text.normalize('NFC') : text
  const cased = caseSensitive ? composed : composed.toLowerCase()
  // Replaces a letter with a diacritic by its base letter, if Unicode has one character for both. A
  // separate combining mark is not ASCII, and stays.
  return ascii
    ? cased.replace(/[\u00c0-\u017f]/g, (letter) => letter.normalize('NFD')[0]!)
    : cased
}
