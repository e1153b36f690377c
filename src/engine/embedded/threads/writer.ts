/** Packs writes for the thread that writes them. */
import { parseStoredInSteps } from '../../../json/parse.ts'
import { printJson } from '../../../json/print.ts'
import type { JsonObject, Value } from '../../../json/value.ts'
import { Pace, type Steps } from '../../../steps.ts'
import type { RecordView } from '../../record-view.ts'
import type { NewRecord, Outcome, SearchFields, Write } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { ThreadMemory } from '../../operations.ts'
import { CommitTally, type CommitCounts } from './commit-tally.ts'
import type { Gate } from './write-pause.ts'
import { difference, EntryList, type Entry } from '../store/entries.ts'
import { countTerms } from '../lexical/writer.ts'
import { Thread, type Unnumbered } from './thread.ts'
import { encodeVector, vectorForm } from '../vectors/vector-bytes.ts'
import type { IndexStep } from '../store/reindex.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { StoreHealth } from '../files/store-health.ts'
import type {
  Operation,
  SearchColumns,
  TermSpan,
  TextChange,
  VectorChange,
  WriteBatch,
} from './write-batch.ts'
import type { WriterMessage, WriterReply } from './writer-thread.ts'

export class Writer {
  readonly #thread: Thread<WriterMessage, WriterReply>
  readonly #tally = new CommitTally()
  readonly #files: KnownFiles
  readonly #health: StoreHealth
  /** Stores that the thread has heard of. */
  readonly #introduced = new Set<string>()

  constructor(durable: boolean, files: KnownFiles, health: StoreHealth) {
    this.#files = files
    this.#health = health
    this.#thread = new Thread<WriterMessage, WriterReply>(
      'writer',
      new URL('writer-thread.ts', import.meta.url),
      (reason, reply) => {
        if (reply === undefined) return new EngineError('write', health.noteDeath(reason))
        if ('trouble' in reply && reply.trouble !== undefined)
          health.noteFailure(reply.file!, reply.trouble)
        return new EngineError('write', reason)
      },
    )
    const { catalog } = files
    const settings = { durable, catalog, tally: this.#tally.shared }
    // Whoever writes first is told if this fails.
    this.#ask({ kind: 'configure', ...settings }).catch(() => undefined)
  }

  /** Since the start: commits, and the records that were written in them. */
  get counts(): CommitCounts {
    return this.#tally.counts
  }

  /** What was asked for and is not done yet. */
  get waiting(): number {
    return this.#thread.waiting
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#thread.memory()
  }

  async write(file: string, batch: WriteBatch): Promise<Written> {
    return this.#ask({ kind: 'write', file, batch })
  }

  async truncate(file: string): Promise<Written> {
    return this.#ask({ kind: 'truncate', file })
  }

  /** Forgets what a feed says of writes up to this one. */
  async trim(file: string, suffix: string, version: number): Promise<void> {
    await this.#ask({ kind: 'trim', file, suffix, version })
  }

  /**
   * Does a part of what a change of indexes takes, between other writes. Returns where the
   * next part starts, or undefined when all is done.
   */
  async reindex(file: string, step: IndexStep): Promise<number | undefined> {
    const reply = await this.#ask({ kind: 'reindex', file, step })
    return reply.next
  }

  /** Stands still between two commits until the other side of the gate lets it go on. */
  async hold(gate: Gate): Promise<void> {
    await this.#ask({ kind: 'hold', gate })
  }

  /** Lets go of a store for now: a later write opens it again. */
  async release(file: string): Promise<void> {
    await this.#close(file, true)
  }

  /** Lets go of a store that is no more. */
  async close(file: string): Promise<void> {
    await this.#close(file, false)
    this.#health.forget(file)
  }

  async stop(): Promise<void> {
    await this.#thread.stop({ kind: 'stop' })
  }

  /** Whoever writes to it next introduces it again. */
  async #close(file: string, tidy: boolean): Promise<void> {
    this.#introduced.delete(file)
    await this.#thread.ask({ kind: 'close', file, tidy })
  }

  async #ask(message: Unnumbered<WriterMessage>): Promise<Written> {
    if ('file' in message) this.#introduce(message.file)
    const reply = await this.#thread.ask(message)
    if ('file' in message) this.#health.noteSuccess(message.file)
    return 'outcomes' in reply ? reply : { outcomes: [], version: 0 }
  }

  #introduce(file: string): void {
    if (this.#introduced.has(file)) return
    const identity = this.#files.identityOf(file)
    if (identity === undefined) return
    this.#introduced.add(file)
    // If this fails, so does what follows it.
    this.#thread.ask({ kind: 'introduce', file, identity }).catch(() => undefined)
  }
}

export interface Written {
  readonly outcomes: readonly Outcome[]
  /** The number of the latest write to the store. */
  readonly version: number
  /** Where the next part of a change of indexes starts. */
  readonly next?: number | undefined
}

export function* packWrites(
  writes: readonly Write[],
  view: RecordView,
  ordered: boolean,
): Steps<WriteBatch> {
  const list = new EntryList()
  const chosen: Entry[] = []
  const operations: Operation[] = []
  const terms = new TermList()
  for (const write of writes) {
    const from = chosen.length
    const { removed, added } = yield* changedEntries(write, list, view)
    for (const entry of removed) chosen.push(entry)
    const middle = chosen.length
    for (const entry of added) chosen.push(entry)
    operations.push({
      ...columnsOf(write),
      ...addId(idOf(write), list),
      ...(view.kind === 'row'
        ? besideRow(write, view, terms)
        : besideDocument(write, terms)),
      from,
      middle,
      to: chosen.length,
    })
    yield
  }
  const { paths, entries } = yield* packEntries(chosen)
  return {
    ordered,
    paths,
    entries,
    keys: list.bytes.view(0, list.bytes.size),
    ...terms.pack(),
    operations,
  }
}

function* changedEntries(write: Write, list: EntryList, view: RecordView) {
  switch (write.kind) {
    case 'insert':
      return { removed: [], added: yield* entriesOf(write.record.document, list, view) }
    case 'replace': {
      const before = yield* entriesOf(write.beforeDocument, list, view)
      const after = yield* entriesOf(write.after.document, list, view)
      return yield* difference(list, before, after)
    }
    case 'delete': {
      const { text } = write.before
      const record =
        view.kind === 'row' ? text : ((yield* parseStoredInSteps(text)) as JsonObject)
      return { removed: yield* entriesOf(record, list, view), added: [] }
    }
  }
}

function* entriesOf(
  record: JsonObject | string,
  list: EntryList,
  view: RecordView,
): Steps<readonly Entry[]> {
  const start = list.entries.length
  const rest = list.addDocumentInSteps(view.indexed(record))
  if (rest !== undefined) yield* rest
  return list.entries.slice(start)
}

function idOf(write: Write): Value {
  return write.kind === 'insert' ? write.record.id : write.before.id
}

function addId(id: Value, { bytes }: EntryList) {
  const idStart = bytes.size
  bytes.addValue(id)
  return { idStart, idEnd: bytes.size }
}

type Columns = Pick<Operation, 'kind' | 'version' | 'text'>

function columnsOf(write: Write): Columns {
  switch (write.kind) {
    case 'insert':
      return { kind: 'insert', version: 0, text: write.record.text }
    case 'replace':
      return {
        kind: 'replace',
        version: Number(write.before.version),
        text: write.after.text,
      }
    case 'delete':
      return {
        kind: 'delete',
        version: Number(write.before.version),
        text: '',
      }
  }
}

type Beside = Pick<Operation, 'search' | 'textTerms' | 'vectors' | 'texts'>

function besideDocument(write: Write, terms: TermList): Beside {
  const record = recordOf(write)
  return {
    search: record === undefined ? null : searchColumns(record.search),
    textTerms: terms.addTextOf(write),
    vectors: [],
    texts: [],
  }
}

/** What changes beside a row. The version that is checked says that it was as `before` is. */
function besideRow(write: Write, view: RecordView, terms: TermList): Beside {
  const before = write.kind === 'insert' ? undefined : write.before
  const after = recordOf(write)
  const vectors: VectorChange[] = []
  // A row that came without them may have any.
  const had =
    before === undefined ? new Map<string, Float32Array>() : before.search?.vectors
  for (const [path, { suffix, metric }] of view.vectors) {
    const vector = after?.search.vectors?.get(path)
    if (had !== undefined && had.get(path) === vector) continue
    const bytes = vector === undefined ? null : new Uint8Array(vector.slice().buffer)
    vectors.push({ suffix, isIndexed: metric !== undefined, bytes })
  }
  const texts: TextChange[] = []
  for (const [path, { suffix }] of view.texts) {
    const old = before && view.textOf(before, path)
    const text = after?.document.get(path)
    if (old === text) continue
    const made =
      typeof text === 'string' && text !== '' ? terms.add(after!.terms!(path)) : null
    texts.push({ suffix, terms: made })
  }
  return { search: undefined, textTerms: null, vectors, texts }
}

function recordOf(write: Write): NewRecord | undefined {
  switch (write.kind) {
    case 'insert':
      return write.record
    case 'replace':
      return write.after
    case 'delete':
      return undefined
  }
}

function searchColumns(search: SearchFields): SearchColumns | null {
  const { form, bytes } = encodeVector(search.vector)
  const vectorize = search.vectorize === undefined ? null : printJson(search.vectorize)
  const lexical = search.lexical === undefined ? null : printJson(search.lexical)
  if (form === vectorForm.absent && vectorize === null && lexical === null) return null
  return { form, vector: bytes, vectorize, lexical }
}

function* packEntries(chosen: readonly Entry[]) {
  const pace = new Pace()
  const positions = new Map<string, number>()
  const entries = new Uint32Array(chosen.length * 4)
  let at = 0
  for (const { path, start, end, element } of chosen) {
    if (pace.isDue()) yield
    let position = positions.get(path)
    if (position === undefined) positions.set(path, (position = positions.size))
    entries[at++] = position
    entries[at++] = start
    entries[at++] = end
    entries[at++] = element ? 1 : 0
  }
  return { paths: [...positions.keys()], entries }
}

/** The terms of the texts of a batch, each of them said once. */
class TermList {
  readonly #positions = new Map<string, number>()
  readonly #counts: number[] = []

  addTextOf(write: Write): TermSpan | null {
    const record = recordOf(write)
    const lexical = record?.search.lexical
    if (lexical === undefined || lexical === null || lexical === '') return null
    // Then they need not be made: what is stored is right already.
    if (write.kind === 'replace' && write.before.search?.lexical === lexical) return null
    return this.add(record?.terms?.('$lexical') ?? [])
  }

  add(terms: readonly string[]): TermSpan {
    const from = this.#counts.length / 2
    for (const [term, count] of countTerms(terms))
      this.#counts.push(this.#positionOf(term), count)
    return { from, to: this.#counts.length / 2 }
  }

  pack(): Pick<WriteBatch, 'terms' | 'termCounts'> {
    return {
      terms: [...this.#positions.keys()],
      termCounts: Uint32Array.from(this.#counts),
    }
  }

  #positionOf(term: string): number {
    let position = this.#positions.get(term)
    if (position === undefined) this.#positions.set(term, (position = this.#positions.size))
    return position
  }
}
