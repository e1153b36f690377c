/** Answers of a service, converted to the texts of the model. */
import assert from 'node:assert/strict'
import type { JsonObject, Value } from '../../src/json/value.ts'
import type { Column, TableOracle } from './tables-oracle.ts'
import type { Session, World } from './tables-session.ts'
import { object, Raw, readCell, type Json } from './tables-values.ts'

export const pageSize = 20

export class Answers {
  readonly #session: Session
  readonly #table: TableOracle

  constructor(world: World) {
    this.#session = world.session
    this.#table = world.table
  }

  /**
   * Reads all pages of a find whose rows come in stored order. The reply must then have no count of
   * sorted rows.
   */
  async allPages(
    clauses: Clauses,
    limit: number | undefined,
    columns: readonly Column[],
  ): Promise<Found[]> {
    const { found, sortedRowCount } = await this.sortedPages(clauses, { limit }, columns)
    // Empty results are excluded: a contradictory filter selects no partition, so the service
    // returns a count of sorted rows.
    if (found.length > 0) assert.equal(sortedRowCount, undefined)
    return found
  }

  /**
   * Reads all pages of a find. Checks that each page except the last is full. Returns the count of
   * sorted rows that the first page contains.
   */
  async sortedPages(
    clauses: Clauses,
    { limit, skip }: { readonly limit?: number | undefined; readonly skip?: number },
    columns: readonly Column[],
  ): Promise<{ readonly found: Found[]; readonly sortedRowCount: Value | undefined }> {
    const found: Found[] = []
    let first: Page | undefined
    let pageState: string | null | undefined
    do {
      const options = object({ limit: raw(limit), skip: raw(skip), pageState })
      const page: Page = await this.read('find', { ...clauses, options }, columns)
      first ??= page
      if (page.nextPageState === null) assert(page.found.length <= pageSize)
      else assert.equal(page.found.length, pageSize)
      found.push(...page.found)
      pageState = page.nextPageState
    } while (pageState !== null)
    return { found, sortedRowCount: memberOf(first.status, 'sortedRowCount') }
  }

  async read(
    command: 'find' | 'findOne',
    clauses: Clauses,
    columns: readonly Column[],
  ): Promise<Page> {
    const answer = await this.#session.send(
      this.#session.name,
      object({ [command]: object(clauses) }),
    )
    assert.deepEqual(answer.codes, [])
    const data = memberOf(answer.exact, 'data')
    const status = memberOf(answer.exact, 'status')
    const schema = memberOf(status, 'projectionSchema') as JsonObject
    assert.deepEqual([...schema.keys()].sort(), columns.map(({ name }) => name).sort())
    const one = memberOf(data, 'document')
    const rows =
      command === 'find'
        ? (memberOf(data, 'documents') as JsonObject[])
        : one === null
          ? []
          : [one as JsonObject]
    const nextPageState = (memberOf(data, 'nextPageState') ?? null) as string | null
    return { found: rows.map((row) => this.#readRow(row)), status, nextPageState }
  }

  #readRow(row: JsonObject): Found {
    const byName = new Map(this.#table.columns.map((column) => [column.name, column]))
    const similarity = row.get('$similarity') as number | undefined
    const texts = new Map<Column, string>()
    for (const [name, value] of row) {
      if (name === '$similarity') continue
      const column = byName.get(name)
      assert(column, `there is no column ${name}`)
      texts.set(column, readCell(value, column.type))
    }
    const shown = [...texts].map(([{ name }, text]) => `${name}: ${text}`)
    return {
      key: this.#table.key.map((column) => texts.get(column)).join('\n'),
      text: shown.sort().join('\n'),
      similarity: similarity ?? NaN,
    }
  }

  /**
   * Converts an element of insertedIds, which is the key of an inserted row, to a text of the
   * model. Binary values in insertedIds have no $binary wrapper.
   */
  readId(id: readonly Value[]): string {
    const texts = this.#table.key.map(({ type }, i) =>
      readCell(
        type.kind === 'one' && type.of === 'blob' ? new Map([['$binary', id[i]!]]) : id[i]!,
        type,
      ),
    )
    return texts.join('\n')
  }
}

export type Clauses = Readonly<Record<string, Json | undefined>>

export interface Page {
  readonly found: readonly Found[]
  readonly status: Value | undefined
  readonly nextPageState: string | null
}

/** A row of an answer, as texts of the model. */
export interface Found {
  readonly key: string
  readonly text: string
  readonly similarity: number
}

export function raw(number: number | undefined): Raw | undefined {
  return number === undefined ? undefined : new Raw(number)
}

export function memberOf(value: Value | undefined, name: string): Value | undefined {
  return value instanceof Map ? value.get(name) : undefined
}
