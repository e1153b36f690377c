/** A table as the model of tables has it: columns, indexes, and rows in a plain Map. */
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

/** Another one comes when a column comes back under a name that was dropped. */
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

/** Never changed: a write makes another one. */
export interface Row {
  readonly cells: Cells
  /** Otherwise it goes with its last value. */
  readonly wasInserted: boolean
}

/** What a write gives to columns, undefined standing for null. */
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

  /** The text under which rows with a key are kept. */
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

  /** What the columns have is known to `change`, also where there is no row. */
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

  /** Rows that would have nothing left must be deleted before. */
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

  /** By the sort of the partition; 0 only for rows of different partitions. */
  compareInPartition(a: Row, b: Row): number {
    for (const { column, direction } of this.partitionSort) {
      const order = compareRows(a, b, column)
      if (order !== 0) return order * direction
    }
    return 0
  }

  /** What rows must show of some columns. */
  show(row: Row, columns: readonly Column[]): string {
    const shown = columns.flatMap((column) => {
      const cell = row.cells.get(column)
      return cell === undefined ? [] : [`${column.name}: ${showCell(cell, column.type)}`]
    })
    return shown.sort().join('\n')
  }

  /** How an index makes the texts of a column, or of a part of it, equal to others. */
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

/** Such keys can be given, but not filtered on. */
export function hasVectorKey({ key }: TableOracle): boolean {
  return key.some(({ type }) => type.kind === 'vector')
}

/** Nulls first. */
export function compareRows(a: Row, b: Row, column: Column): number {
  const [x, y] = [atomIn(a, column), atomIn(b, column)]
  if (x === undefined || y === undefined)
    return Number(x !== undefined) - Number(y !== undefined)
  return compareElements(x, y, x.type)
}

/** What a row has in a column of a type without parts. */
export function atomIn({ cells }: Row, column: Column): Atom | undefined {
  const cell = cells.get(column)
  return cell?.kind === 'one' ? (cell.value as Atom) : undefined
}

/** With what is pushed: at the end of a list, into a set, over the entries of a map. */
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

/** Without all that is equal to what is pulled; of a map, the keys are. */
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

/** As `$similarity` tells it. */
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

/** Whether a text has every word of another, as an index takes them. */
export function hasWords(text: string, words: string, analyzer: 'standard' | 'whitespace') {
  const wordsIn = (of: string) =>
    analyzer === 'standard' ? of.toLowerCase().split(/[^a-z0-9]+/) : of.split(/\s+/)
  const known = new Set(wordsIn(text))
  return wordsIn(words).every((word) => known.has(word))
}

/** Words to look for, of those that texts are made of. */
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
  // Letters with marks that Unicode has as one; a mark on its own is not ASCII, and stays.
  return ascii
    ? cased.replace(/[\u00c0-\u017f]/g, (letter) => letter.normalize('NFD')[0]!)
    : cased
}
