/**
 * Changing rows that are known by their keys: each atomically, in the order of the changes.
 *
 * The locks keep the requests of this process apart, the engine's versions everyone else. A
 * change that lost a race is made again, of the row as it is by then.
 */
import type { Caller } from '../../caller.ts'
import type { NewRecord, StoredRecord, Write } from '../../engine/contract.ts'
import { EngineError } from '../../engine/errors.ts'
import { ApiError, apiError } from '../../errors/api-error.ts'
import type { JsonObject } from '../../json/value.ts'
import type { Filter } from '../../language/filters/filter.ts'
import { lockKey } from '../../paging/change.ts'
import { anyOrder, read } from '../../paging/read.ts'
import { idPath } from '../../paging/record-id.ts'
import { budgetOf, type AnalysisBudget } from '../../search/lexical/analysis-budget.ts'
import type { RowStore } from '../row-store.ts'
import { makeRecord, openRow, type Row } from './row.ts'

export interface RowChange {
  readonly id: string
  /** What the row is to become, undefined standing for no row. Throws what forbids it. */
  apply(before: Row | undefined): Row | undefined
}

export type RowOutcome = 'done' | 'skipped' | ApiError

export interface ChangeOptions {
  /** Whether changes after the first that fails are left. */
  readonly ordered: boolean
  /** Whether most rows are likely not there yet: then it is tried before it is looked up. */
  readonly likelyNew: boolean
}

/** What became of each change. */
export async function changeRows(
  store: RowStore,
  changes: readonly RowChange[],
  options: ChangeOptions,
  caller: Caller,
): Promise<readonly RowOutcome[]> {
  if (changes.length === 0) return []
  const keys = changes.map(({ id }) => lockKey(store, id))
  return store.locks.holding(keys, async () => {
    const run = new Run(store, changes, options, caller)
    for (let attempt = 1; attempt <= store.limits.writeAttemptsMax; attempt++) {
      const guess = attempt === 1 && options.likelyNew
      try {
        const ids = run.pendingIds()
        await run.attempt(guess ? noRecords : await readRows(store, ids, caller))
      } catch (error) {
        // What was written before that stays, and so it is told.
        if (!run.hasWritten || !isStoreFailure(error)) throw error
        return run.finish(() =>
          apiError('FAILED_WRITE_REQUEST', { target: store.name, problem: error.message }),
        )
      }
      if (run.isOver()) break
    }
    const lost = { target: store.name, attempts: store.limits.writeAttemptsMax }
    return run.finish(() => apiError('FAILED_CONCURRENT_OPERATIONS', lost))
  })
}

/** What is to become of one row, by all changes of it so far. */
interface Draft {
  readonly before: StoredRecord | undefined
  readonly beforeRow: Row | undefined
  /** What filters see of the row as it was. */
  readonly beforeDocument: JsonObject | undefined
  readonly row: Row | undefined
  readonly record: NewRecord | undefined
  /** Of the changes that made it. */
  readonly positions: readonly number[]
}

type Records = ReadonlyMap<string, StoredRecord>

const noRecords: Records = new Map()

class Run {
  readonly #store: RowStore
  readonly #changes: readonly RowChange[]
  readonly #ordered: boolean
  readonly #caller: Caller
  /** Undefined while a change has yet to be made. */
  readonly #outcomes: (RowOutcome | undefined)[]
  hasWritten = false

  constructor(
    store: RowStore,
    changes: readonly RowChange[],
    { ordered }: ChangeOptions,
    caller: Caller,
  ) {
    this.#caller = caller
    this.#store = store
    this.#changes = changes
    this.#ordered = ordered
    this.#outcomes = changes.map(() => undefined)
  }

  isOver(): boolean {
    return !this.#outcomes.includes(undefined)
  }

  pendingIds(): readonly string[] {
    const pending = this.#changes.filter((_, at) => this.#outcomes[at] === undefined)
    return [...new Set(pending.map(({ id }) => id))]
  }

  /** Makes the changes that are left, in one write; those that lose a race are left again. */
  async attempt(stored: Records): Promise<void> {
    const drafts = await this.#draftAll(stored)
    const { engine, table } = this.#store
    const writing: { readonly draft: Draft; readonly write: Write }[] = []
    for (const draft of drafts.values()) {
      const write = writeOf(draft)
      if (write === undefined) this.#settle(draft, 'done')
      else writing.push({ draft, write })
    }
    if (writing.length === 0) return
    const writes = writing.map(({ write }) => write)
    const options = { ordered: this.#ordered, deadline: this.#caller }
    const outcomes = await engine.write(table, writes, options)
    for (const [at, { draft }] of writing.entries())
      if (outcomes[at] === 'done') {
        this.#settle(draft, 'done')
        this.hasWritten = true
      }
  }

  /** What became of the changes; those that are left now have failed, by this. */
  finish(failure: () => ApiError): readonly RowOutcome[] {
    let failed = false
    return this.#outcomes.map((outcome): RowOutcome => {
      if (outcome !== undefined) return outcome
      if (failed && this.#ordered) return 'skipped'
      failed = true
      return failure()
    })
  }

  async #draftAll(stored: Records): Promise<ReadonlyMap<string, Draft>> {
    const analysis = budgetOf(this.#caller)
    const drafts = new Map<string, Draft>()
    for (const [position, change] of this.#changes.entries()) {
      if (this.#outcomes[position] !== undefined) continue
      const pause = analysis.nextText()
      if (pause !== undefined) await pause
      const sofar = drafts.get(change.id) ?? this.#open(stored.get(change.id))
      try {
        drafts.set(change.id, this.#apply(change, sofar, position, analysis))
      } catch (error) {
        this.#caller.check()
        if (!(error instanceof ApiError)) throw error
        this.#outcomes[position] = error
        if (this.#ordered) {
          this.#skipAfter(position)
          break
        }
      }
    }
    return drafts
  }

  #open(before: StoredRecord | undefined): Draft {
    const row = before && openRow(before)
    return {
      before,
      beforeRow: row,
      beforeDocument: before && this.#store.view.indexed(before.text),
      row,
      record: undefined,
      positions: [],
    }
  }

  #apply(
    change: RowChange,
    draft: Draft,
    position: number,
    analysis: AnalysisBudget,
  ): Draft {
    const row = change.apply(draft.row)
    const record =
      row && makeRecord(this.#store, change.id, row, draft.beforeDocument, analysis)
    return { ...draft, row, record, positions: [...draft.positions, position] }
  }

  #skipAfter(position: number): void {
    for (let at = position + 1; at < this.#outcomes.length; at++)
      this.#outcomes[at] ??= 'skipped'
  }

  #settle({ positions }: Draft, outcome: RowOutcome): void {
    for (const position of positions) this.#outcomes[position] = outcome
  }
}

function isStoreFailure(error: unknown): error is EngineError {
  return error instanceof EngineError && (error.kind === 'write' || error.kind === 'read')
}

/** Undefined when the row is already what it is to become. */
function writeOf(draft: Draft): Write | undefined {
  const { before, beforeRow, beforeDocument, row, record } = draft
  if (before === undefined) return record && { kind: 'insert', record }
  if (record === undefined) return { kind: 'delete', before }
  if (record.text === before.text && row!.vectors === beforeRow!.vectors) return undefined
  return { kind: 'replace', before, beforeDocument: beforeDocument!, after: record }
}

async function readRows(
  store: RowStore,
  ids: readonly string[],
  caller: Caller,
): Promise<Records> {
  const filter: Filter =
    ids.length === 1
      ? { kind: 'eq', path: idPath, value: ids[0]! }
      : { kind: 'in', path: idPath, values: ids }
  const withSearchFields = store.view.vectors.size > 0
  const wanted = { ...anyOrder, filter, limit: ids.length, withSearchFields }
  const { records } = await read(store, wanted, caller)
  return new Map(records.map((record) => [record.id as string, record]))
}
