/**
 * Stands in front of an engine and asserts what the contract promises, on both sides: what
 * the engine answers, and what it is asked. For tests and development: it looks into every
 * record that passes.
 *
 * A failed assertion is a bug in our code. It says which call broke which promise.
 */
import assert from 'node:assert/strict'
import { equalValues } from '../json/equal.ts'
import { parseStored } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import { isObject, type JsonObject } from '../json/value.ts'
import type { Filter } from '../query/filter.ts'
import { indexingRule } from '../query/indexing.ts'
import { matches } from '../query/matches.ts'
import { compareBy, compareValues } from '../query/order.ts'
import {
  EngineError,
  type Engine,
  type Hit,
  type NewRecord,
  type Outcome,
  type Page,
  type Query,
  type Search,
  type SearchFields,
  type StoredRecord,
  type Target,
  type Write,
} from './engine.ts'

export function checked(engine: Engine): Engine {
  let closed = false

  /** Makes a call and checks how it answers, whatever it is about. */
  const ask = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    // Looked at now: a call that was made before the end may be answered after it.
    const refused = closed
    let answer: Promise<T>
    try {
      answer = call()
    } catch (error) {
      throw broken(name, 'threw at once instead of returning a promise', error)
    }
    if (!refused) return answer
    const refusal: unknown = await answer.then(
      () => undefined,
      (error: unknown) => error,
    )
    assert(isClosed(refusal), `${name}: must be refused as 'closed' after close`)
    throw refusal
  }

  return {
    async listKeyspaces() {
      const names = await ask('listKeyspaces', () => engine.listKeyspaces())
      assertDistinct('listKeyspaces', names)
      return names
    },

    createKeyspace: (name) => ask('createKeyspace', () => engine.createKeyspace(name)),

    dropKeyspace: (name) => ask('dropKeyspace', () => engine.dropKeyspace(name)),

    async listTargets(keyspace) {
      const targets = await ask('listTargets', () => engine.listTargets(keyspace))
      for (const target of targets ?? [])
        assert.equal(target.keyspace, keyspace, 'listTargets: a target of another keyspace')
      assertDistinct('listTargets', targets?.map(({ name }) => name) ?? [])
      return targets
    },

    async findTarget(keyspace, name) {
      const target = await ask('findTarget', () => engine.findTarget(keyspace, name))
      if (target !== undefined) assertNamed('findTarget', target, keyspace, name)
      return target
    },

    async countTargets() {
      const count = await ask('countTargets', () => engine.countTargets())
      assertCount('countTargets', count)
      return count
    },

    async createCollection(keyspace, name, options) {
      const existing = await ask('createCollection', () =>
        engine.createCollection(keyspace, name, options),
      )
      if (existing !== undefined) assertNamed('createCollection', existing, keyspace, name)
      return existing
    },

    dropTarget: (target) => ask('dropTarget', () => engine.dropTarget(target)),

    async read(target, query, signal) {
      assertQuery(query)
      const page = await ask('read', () => engine.read(target, query, signal))
      assertPage(page, query, target)
      return withCheckedPositions(page)
    },

    async count(target, filter, stopAt, signal) {
      assert(Number.isSafeInteger(stopAt) && stopAt >= 1, 'count: stopAt must be 1 or more')
      const count = await ask('count', () => engine.count(target, filter, stopAt, signal))
      if (count === undefined) return undefined
      assertCount('count', count)
      assert(count <= stopAt, `count: ${count} is beyond stopAt, which is ${stopAt}`)
      return count
    },

    async search(target, search, signal) {
      assertSearch(search)
      const hits = await ask('search', () => engine.search(target, search, signal))
      if (hits !== undefined) assertHits(hits, search, target)
      return hits
    },

    async estimateCount(target) {
      const count = await ask('estimateCount', () => engine.estimateCount(target))
      assertCount('estimateCount', count)
      return count
    },

    async write(target, writes, options = {}) {
      for (const write of writes) assertWrite(write)
      const outcomes = await ask('write', () => engine.write(target, writes, options))
      assertOutcomes(outcomes, writes, options.ordered ?? false)
      return outcomes
    },

    truncate: (target) => ask('truncate', () => engine.truncate(target)),

    readSetting: (name) => ask('readSetting', () => engine.readSetting(name)),

    writeSetting: (name, value) =>
      ask('writeSetting', () => engine.writeSetting(name, value)),

    async close() {
      closed = true
      await engine.close()
    },
  }
}

function assertQuery({ skip, limit, after }: Query): void {
  assert(Number.isSafeInteger(limit) && limit >= 1, 'read: limit must be 1 or more')
  assert(Number.isSafeInteger(skip) && skip >= 0, 'read: skip must be 0 or more')
  assert(after !== '', 'read: an empty position was never given out')
}

function assertPage(page: Page, query: Query, target: Target): void {
  const { served, next } = page
  const records = page.joined === undefined ? page.records : separate(page, query)
  assert(
    records.length <= query.limit,
    `read: ${records.length} records on a page of at most ${query.limit}`,
  )
  assert(next === undefined || isPosition(next), 'read: next is neither absent nor a text')
  assert(
    next === undefined || query.lookAhead !== false || !served.filter || !served.sort,
    'read: what follows was not asked for',
  )
  const documents = records.map((record) => documentOf(record))
  assertDistinct(
    'read',
    documents.map((document) => printJson(document.get('_id')!)),
  )
  if (query.withSearchFields) assertSearchFields('read', records)
  if (served.filter) assertMatching('read', records, documents, query, target)
  if (served.sort) assertSorted(documents, query)
}

function assertSearch({ limit, by }: Search): void {
  assert(Number.isSafeInteger(limit) && limit >= 1, 'search: limit must be 1 or more')
  if (by.kind !== 'lexical') return
  assert(by.terms.length > 0, 'search: there must be a term to look for')
  assertDistinct('search', by.terms)
}

function assertHits(hits: readonly Hit[], search: Search, target: Target): void {
  const { limit, withSearchFields } = search
  assert(hits.length <= limit, `search: ${hits.length} hits, where at most ${limit} fit`)
  const records = hits.map(({ record }) => record)
  const documents = records.map((record) => documentOf(record))
  assertDistinct(
    'search',
    documents.map((document) => printJson(document.get('_id')!)),
  )
  for (const [i, { score, record }] of hits.entries()) {
    assert(Number.isFinite(score), `search: ${score} is no score, of ${record.text}`)
    const before = hits[i - 1]
    if (before === undefined) continue
    const isInOrder =
      before.score === score
        ? compareValues(before.record.id, record.id) < 0
        : before.score > score
    assert(
      isInOrder,
      `search: these stand the wrong way round: ${before.record.text}, which has ` +
        `${before.score}, and ${record.text}, which has ${score}`,
    )
  }
  if (withSearchFields) assertSearchFields('search', records)
  assertMatching('search', records, documents, search, target)
}

function assertSearchFields(call: string, records: readonly StoredRecord[]): void {
  for (const { search, text } of records)
    assert(search !== undefined, `${call}: no search fields came with ${text}`)
}

/** The records whose texts came joined. */
function separate(
  { joined, records, served }: Page,
  { textsOnly, withSearchFields }: Query,
): StoredRecord[] {
  assert(textsOnly === true && !withSearchFields, 'read: joined texts were not asked for')
  assert(served.filter && served.sort, 'read: texts can be joined only in a finished page')
  assert(records.length === 0, 'read: a page has joined texts or records, not both')
  const documents = parseStored(`[${joined!.text}]`) as JsonObject[]
  assert(
    documents.length === joined!.count,
    `read: ${documents.length} texts were joined, not ${joined!.count} as counted`,
  )
  return documents.map((document) => {
    return { id: document.get('_id')!, text: printJson(document), version: 0 }
  })
}

function assertMatching(
  call: string,
  records: readonly StoredRecord[],
  documents: readonly JsonObject[],
  { filter, withSearchFields }: Pick<Query, 'filter' | 'withSearchFields'>,
  target: Target,
): void {
  if (!isDecidable(filter, withSearchFields)) return
  const rule = indexingRule(target.options.indexing)
  for (const [i, document] of documents.entries()) {
    const indexed = new Map([...rule.prune(document), ...presence(records[i]!.search)])
    assert(
      matches(filter, indexed),
      `${call}: the filter was served, but ${records[i]!.text} does not match it`,
    )
  }
}

/** Whether records alone show if they match: not for $match, nor without search fields. */
function isDecidable(filter: Filter, withSearchFields: boolean): boolean {
  if (filter.kind === 'and' || filter.kind === 'or')
    return filter.of.every((part) => isDecidable(part, withSearchFields))
  if (filter.kind === 'match') return false
  return withSearchFields || !filter.path.text.startsWith('$')
}

/** Filters can ask only whether search fields are there. */
function presence(search: SearchFields = {}): JsonObject {
  const fields: JsonObject = new Map()
  if (search.vector !== undefined) fields.set('$vector', null)
  if (search.vectorize !== undefined) fields.set('$vectorize', null)
  if (search.lexical !== undefined) fields.set('$lexical', null)
  return fields
}

function assertSorted(documents: readonly JsonObject[], { sort }: Query): void {
  if (sort.length === 0) return
  const compare = compareBy(sort)
  for (let i = 1; i < documents.length; i++) {
    const [before, after] = [documents[i - 1]!, documents[i]!]
    assert(
      compare(before, after) < 0,
      'read: the sort was served, but these stand the wrong way round: ' +
        `${printJson(before)} and ${printJson(after)}`,
    )
  }
}

/** What a stored record says; asserts that it is what the contract says it is. */
function documentOf({ id, text, version }: StoredRecord): JsonObject {
  assert(text.startsWith('{"_id":'), `a record's text must start with its _id: ${text}`)
  const document = parseStored(text)
  assert(isObject(document), `a record's text must be an object: ${text}`)
  assert(
    equalValues(document.get('_id')!, id),
    `a record's id is ${printJson(id)}, but its text says otherwise: ${text}`,
  )
  assert(
    typeof version === 'string' || Number.isSafeInteger(version),
    `a record's version cannot be told from others: ${version}`,
  )
  return document
}

function withCheckedPositions(page: Page): Page {
  return {
    records: page.records,
    joined: page.joined,
    served: page.served,
    next: page.next,
    positionAfter(record) {
      assert(page.records.includes(record), 'positionAfter: the record is not of this page')
      const position = page.positionAfter(record)
      assert(isPosition(position), 'positionAfter: a position must be a text')
      return position
    },
  }
}

function isPosition(position: unknown): boolean {
  return typeof position === 'string' && position !== ''
}

function assertWrite(write: Write): void {
  switch (write.kind) {
    case 'insert':
      assertNewRecord(write.record)
      return
    case 'replace': {
      const before = documentOf(write.before)
      assert(
        equalValues(before, write.beforeDocument),
        `write: beforeDocument is not what the text before says: ${write.before.text}`,
      )
      assertNewRecord(write.after)
      assert(
        compareValues(write.before.id, write.after.id) === 0,
        `write: a replace cannot change the _id ${printJson(write.before.id)}`,
      )
      return
    }
    case 'delete':
      documentOf(write.before)
  }
}

function assertNewRecord({ id, text, document }: NewRecord): void {
  const written = documentOf({ id, text, version: 0 })
  assert(equalValues(written, document), `write: the document is not what it says: ${text}`)
}

function assertOutcomes(
  outcomes: readonly Outcome[],
  writes: readonly Write[],
  ordered: boolean,
): void {
  assert.equal(outcomes.length, writes.length, 'write: one outcome per write')
  const firstUndone = outcomes.findIndex((outcome) => outcome !== 'done')
  for (const [i, outcome] of outcomes.entries()) {
    const { kind } = writes[i]!
    if (outcome === 'exists')
      assert(kind === 'insert', `write: a ${kind} found an id taken`)
    if (outcome === 'conflict')
      assert(kind !== 'insert', 'write: an insert has no conflict')
    const mustSkip = ordered && firstUndone >= 0 && i > firstUndone
    assert(
      (outcome === 'skipped') === mustSkip,
      `write: number ${i} was ${outcome}, ${ordered ? 'in' : 'out of'} order, and the ` +
        `first that was not done is number ${firstUndone}`,
    )
  }
}

function assertNamed(call: string, target: Target, keyspace: string, name: string): void {
  assert(
    target.keyspace === keyspace && target.name === name,
    `${call}: asked for ${keyspace}.${name}, got ${target.keyspace}.${target.name}`,
  )
}

function assertCount(call: string, count: number): void {
  assert(Number.isSafeInteger(count) && count >= 0, `${call}: ${count} is not a count`)
}

function assertDistinct(call: string, names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    assert(!seen.has(name), `${call}: ${name} came twice`)
    seen.add(name)
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof EngineError && error.kind === 'closed'
}

function broken(call: string, how: string, cause: unknown): Error {
  return new assert.AssertionError({ message: `${call}: ${how}: ${String(cause)}` })
}
