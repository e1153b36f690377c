/** Packs writes for the thread that writes them. */
import { printJson } from '../../json/print.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { parseStored } from '../../json/parse.ts'
import type { IndexingRule } from '../../query/indexing.ts'
import {
  EngineError,
  type NewRecord,
  type Outcome,
  type SearchFields,
  type StoredRecord,
  type Write,
} from '../engine.ts'
import { difference, EntryList, type Entry } from './entries.ts'
import { countTerms } from './lexical-writer.ts'
import { Thread, type Unnumbered } from './thread.ts'
import { encodeVector, vectorForm } from './vector-bytes.ts'
import type {
  Operation,
  SearchColumns,
  TermSpan,
  WriteBatch,
  WriterMessage,
  WriterReply,
} from './writer-thread.ts'

export class Writer {
  readonly #thread: Thread<WriterMessage, WriterReply>

  constructor(durable: boolean) {
    this.#thread = new Thread<WriterMessage, WriterReply>(
      new URL('writer-thread.ts', import.meta.url),
      (reason) => new EngineError('write', reason),
    )
    void this.#ask({ kind: 'configure', durable })
  }

  async write(
    file: string,
    rule: IndexingRule,
    writes: readonly Write[],
    ordered: boolean,
  ): Promise<Written> {
    const batch = packWrites(writes, rule, ordered)
    return this.#ask({ kind: 'write', file, batch })
  }

  async truncate(file: string): Promise<Written> {
    return this.#ask({ kind: 'truncate', file })
  }

  /** Forgets what the feed says of writes up to this one. */
  async trim(file: string, version: number): Promise<void> {
    await this.#ask({ kind: 'trim', file, version })
  }

  /** Lets go of a store; a later write would open it again. */
  async close(file: string): Promise<void> {
    await this.#ask({ kind: 'close', file })
  }

  async stop(): Promise<void> {
    await this.#ask({ kind: 'stop' })
  }

  async #ask(message: Unnumbered<WriterMessage>): Promise<Written> {
    const reply = await this.#thread.ask(message)
    return 'outcomes' in reply ? reply : { outcomes: [], version: 0 }
  }
}

export interface Written {
  readonly outcomes: readonly Outcome[]
  /** The number of the latest write to the store. */
  readonly version: number
}

export function packWrites(
  writes: readonly Write[],
  rule: IndexingRule,
  ordered: boolean,
): WriteBatch {
  const list = new EntryList()
  const chosen: Entry[] = []
  const operations: Operation[] = []
  const terms = new TermList()
  for (const write of writes) {
    const from = chosen.length
    const { removed, added } = changedEntries(write, list, rule)
    for (const entry of removed) chosen.push(entry)
    const middle = chosen.length
    for (const entry of added) chosen.push(entry)
    operations.push({
      ...columnsOf(write),
      ...addId(idOf(write), list),
      textTerms: terms.addTextOf(write),
      from,
      middle,
      to: chosen.length,
    })
  }
  const { paths, entries } = packEntries(chosen)
  return {
    ordered,
    paths,
    entries,
    keys: list.bytes.view(0, list.bytes.size),
    ...terms.pack(),
    operations,
  }
}

function changedEntries(write: Write, list: EntryList, rule: IndexingRule) {
  const entriesOf = (document: JsonObject): readonly Entry[] =>
    list.entries.slice(list.addDocument(document, rule))
  switch (write.kind) {
    case 'insert':
      return { removed: [], added: entriesOf(write.record.document) }
    case 'replace':
      return difference(
        list,
        entriesOf(write.beforeDocument),
        entriesOf(write.after.document),
      )
    case 'delete':
      return { removed: entriesOf(documentOf(write.before)), added: [] }
  }
}

function idOf(write: Write): Value {
  return write.kind === 'insert' ? write.record.id : write.before.id
}

function addId(id: Value, { bytes }: EntryList) {
  const idStart = bytes.size
  bytes.addValue(id)
  return { idStart, idEnd: bytes.size }
}

type Columns = Pick<Operation, 'kind' | 'version' | 'text' | 'search'>

function columnsOf(write: Write): Columns {
  switch (write.kind) {
    case 'insert':
      return { kind: 'insert', version: 0, ...recordColumns(write.record) }
    case 'replace':
      return {
        kind: 'replace',
        version: Number(write.before.version),
        ...recordColumns(write.after),
      }
    case 'delete':
      return {
        kind: 'delete',
        version: Number(write.before.version),
        text: '',
        search: null,
      }
  }
}

function recordColumns(record: NewRecord) {
  return { text: record.text, search: searchColumns(record.search) }
}

function searchColumns(search: SearchFields): SearchColumns | null {
  const { form, bytes } = encodeVector(search.vector)
  const vectorize = search.vectorize === undefined ? null : printJson(search.vectorize)
  const lexical = search.lexical === undefined ? null : printJson(search.lexical)
  if (form === vectorForm.absent && vectorize === null && lexical === null) return null
  return { form, vector: bytes, vectorize, lexical }
}

function packEntries(chosen: readonly Entry[]) {
  const positions = new Map<string, number>()
  const entries = new Uint32Array(chosen.length * 4)
  let at = 0
  for (const { path, start, end, element } of chosen) {
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
    if (write.kind === 'delete') return null
    const record = write.kind === 'insert' ? write.record : write.after
    const { lexical } = record.search
    if (lexical === undefined || lexical === null || lexical === '') return null
    // Then they need not be made: what is stored is right already.
    if (write.kind === 'replace' && write.before.search?.lexical === lexical) return null
    const from = this.#counts.length / 2
    for (const [term, count] of countTerms(record.terms ?? []))
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

function documentOf(record: StoredRecord): JsonObject {
  const document = parseStored(record.text)
  if (!isObject(document))
    throw new EngineError('damaged', 'a stored document is no object')
  return document
}
