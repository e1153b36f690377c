/** A client's own rows in a table: their expected states, and how the client reads them. */
import type { Random } from '../faults/random.ts'
import { Ledger, type Doubt, type State, type Touched } from './ledger.ts'
import type { Answer, Line } from './line.ts'
import { times, type Json } from './random-documents.ts'
import { columnKinds, keyColumns, type Cell, type TableShape } from './table-shape.ts'
import { Unexplained } from './unexplained.ts'

export interface RowState extends State {
  /** The values by column; columns without a value are absent. */
  readonly cells: ReadonlyMap<string, Cell>
  /**
   * Whether an insert wrote the row. If only updates created a row, it disappears with its last
   * value.
   */
  readonly wasInserted: boolean
}

/** The columns that a write sets; null clears a column. */
export type Given = ReadonlyMap<string, Cell | null>

export interface RowChange {
  readonly command: object
  readonly touched: Touched<RowState>
  readonly mayBe?: Doubt['mayBe']
  /** Possible effects if the server rejects the command. */
  readonly refusedMayBe?: Doubt['mayBe']
  readonly check: (answer: Answer) => void
}

export class RowBook {
  readonly line: Line
  readonly random: Random
  readonly owner: number
  readonly shape: TableShape
  readonly ledger = new Ledger<RowState>()
  #serial = 0

  constructor(line: Line, random: Random, owner: number, shape: TableShape) {
    this.line = line
    this.random = random
    this.owner = owner
    this.shape = shape
  }

  get path(): string {
    return `/default_keyspace/${this.shape.name}`
  }

  get others(): string[] {
    const keys = keyColumns(this.shape)
    return [...this.shape.columns.keys()].filter(
      (name) => !keys.includes(name) && name !== 'owner',
    )
  }

  /** The key of a new or existing row, in a partition that other rows share. */
  newKey(): Map<string, Cell> {
    const { random, owner } = this
    return new Map(
      keyColumns(this.shape).map((name): [string, Cell] => {
        if (name === 'owner') return [name, owner]
        if (name === 'id') return [name, `${owner}-${this.#serial++}`]
        if (name === 'n') return [name, random.below(60)]
        if (name === 'day') return [name, `2024-02-0${1 + random.below(4)}`]
        return [name, columnKinds[this.shape.columns.get(name)!].random(random)]
      }),
    )
  }

  /** A row to insert: a key, the owner, and most of the other columns. */
  newRow(): Map<string, Cell | null> {
    const { random, shape } = this
    const given = new Map<string, Cell | null>(this.newKey())
    if (shape.columns.has('owner')) given.set('owner', this.owner)
    for (const name of this.others)
      if (!random.oneIn(4)) given.set(name, this.newCell(name))
    return given
  }

  newCell(name: string): Cell | null {
    if (this.random.oneIn(12)) return null
    return columnKinds[this.shape.columns.get(name)!].random(this.random)
  }

  keyOf(cells: ReadonlyMap<string, Cell | null>): string {
    return canonical(keyColumns(this.shape).map((name) => cells.get(name)))
  }

  /** A filter for exactly one row. */
  exactly(cells: ReadonlyMap<string, Cell | null>): Json {
    return Object.fromEntries(keyColumns(this.shape).map((name) => [name, cells.get(name)]))
  }

  /** The row after a write; undefined if the row does not exist. */
  written(
    before: RowState | undefined,
    given: Given,
    isInsert: boolean,
  ): RowState | undefined {
    const cells = new Map(before?.cells)
    for (const [name, cell] of given)
      if (cell === null || isEmpty(cell)) cells.delete(name)
      else cells.set(name, cell)
    const wasInserted = isInsert || before?.wasInserted === true
    const isBare = cells.size <= keyColumns(this.shape).length
    return wasInserted || !isBare ? rowState(cells, wasInserted) : undefined
  }

  async change(change: RowChange): Promise<void> {
    const { command, touched, mayBe = 'each', refusedMayBe = 'untouched' } = change
    const told = await this.line.send(this.path, command)
    switch (told.kind) {
      case 'answered':
        change.check(told.answer)
        this.ledger.apply(touched)
        return
      case 'refused':
        this.ledger.apply(insertedOf(touched, told.answer))
        return this.#settle(touched, { mayBe: refusedMayBe, command })
      case 'lost':
        return this.#settle(touched, { mayBe, command })
    }
  }

  /**
   * Resolves an unknown outcome. The row that is found does not show whether an insert wrote it, so
   * `wasInserted` is taken from the expected state that equals this row.
   */
  async #settle(touched: Touched<RowState>, doubt: Doubt): Promise<void> {
    const found = new Map<string, RowState>()
    for (const row of await this.readAll()) {
      const key = this.keyOf(row.cells)
      if (!touched.has(key)) continue
      const [before, after] = [this.ledger.get(key), touched.get(key)]
      const like = after?.text === row.text ? after : before
      found.set(key, { ...row, wasInserted: like?.wasInserted ?? true })
    }
    this.ledger.settle(touched, found, doubt)
  }

  /** Reads all own rows, page by page. */
  readAll(): Promise<RowState[]> {
    const isOwned = this.shape.columns.has('owner')
    return this.readPages({ filter: isOwned ? { owner: this.owner } : {} })
  }

  async readPages(clauses: object, limit?: number, skip?: number): Promise<RowState[]> {
    const found: RowState[] = []
    let pageState: string | null | undefined
    do {
      const command = { find: { ...clauses, options: { limit, skip, pageState } } }
      const answer = await this.line.ask(this.path, command)
      found.push(...rowsIn(answer, command))
      pageState = answer.body.data!.nextPageState
    } while (typeof pageState === 'string')
    return found
  }

  someRow(): RowState {
    return this.random.pick(this.ledger.states)
  }

  /** Keys of some existing rows, mixed with new keys. */
  someKeys(count: number): ReadonlyMap<string, Cell | null>[] {
    return times(count, () => (this.random.oneIn(4) ? this.newKey() : this.someRow().cells))
  }
}

export function rowState(cells: ReadonlyMap<string, Cell>, wasInserted = true): RowState {
  return { cells, wasInserted, text: canonical(Object.fromEntries(cells)) }
}

export function rowsIn(answer: Answer, command: object): RowState[] {
  const rows = answer.body.data?.documents
  if (rows === undefined || answer.codes.length > 0)
    throw new Unexplained('a find without rows', { command, answer: answer.text })
  return rows.map((row) => rowState(new Map(Object.entries(row)) as Map<string, Cell>))
}

/** JSON text that is the same for equal values, whatever the order of their members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

function isEmpty(cell: Cell): boolean {
  if (Array.isArray(cell)) return cell.length === 0
  return typeof cell === 'object' && Object.keys(cell).length === 0
}

/** The touched rows that a rejected command reports as inserted. */
function insertedOf(touched: Touched<RowState>, { body }: Answer): Touched<RowState> {
  const ids = (body.status?.['insertedIds'] ?? []) as unknown[]
  const keys = new Set(ids.map(canonical))
  return new Map([...touched].filter(([key]) => keys.has(key)))
}
