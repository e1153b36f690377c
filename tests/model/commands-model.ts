/**
 * Random commands compared with a plain Map: which documents are found, in which order and on which
 * page, and the documents after updates, replacements and deletes.
 *
 * The model uses matches(), compareBy() and applyUpdate() as the meaning of filters, sorts and
 * updates; other tests check these functions. This model tests the path of a command: parsing,
 * planning, indexing, paging, writing.
 */
import assert from 'node:assert/strict'
import { ApiError } from '../../src/errors/api-error.ts'
import { idKey } from '../../src/language/values/record-id.ts'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import type { Filter } from '../../src/language/filters/filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { plainMatches } from '../language/plain-matches.ts'
import { compareBy } from '../../src/language/values/order.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'
import { applyUpdate } from '../../src/language/updates/update.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import type { CommandAnswer } from '../harness.ts'
import { checkDocument } from '../collections/check-document.ts'
import type { Random } from './random.ts'
import {
  pathOf,
  pathTexts,
  randomFields,
  randomId,
  randomSort,
  randomValue,
  seed,
  type Shape,
} from './random.ts'
import { filterJson, randomSentFilter, sortJson } from './sent-filters.ts'

const rule = indexingRule(undefined)
const byId: readonly SortKey[] = [{ path: pathOf('_id'), direction: 1 }]

/** The target of commands: one server, or several servers that share data. */
export interface Commanded {
  command(path: string, body: string): Promise<CommandAnswer>
}

export class CommandsModel {
  readonly #server: Commanded
  readonly #random: Random
  readonly #shape: Shape
  readonly #name: string
  readonly #documents = new Map<string, JsonObject>()
  #label = ''

  constructor(server: Commanded, random: Random, shape: Shape, name: string) {
    this.#server = server
    this.#random = random
    this.#shape = shape
    this.#name = name
  }

  async create(): Promise<void> {
    const body = { createCollection: { name: this.#name } }
    const { text } = await this.#server.command('/default_keyspace', JSON.stringify(body))
    assert.equal(text, '{"status":{"ok":1}}')
  }

  step(): Promise<void> {
    const random = this.#random
    // These probabilities keep collections small enough for the plain Map, and large enough for
    // several pages.
    if (random.chance(this.#documents.size < 60 ? 0.5 : 0.1)) return this.#insert()
    return random.pick([
      () => this.#find(),
      () => this.#find(),
      () => this.#findOne(),
      () => this.#count(),
      () => this.#updateOne(),
      () => this.#updateOne(),
      () => this.#updateMany(),
      () => this.#replace(),
      () => this.#deleteOne(),
      () => (random.chance(0.3) ? this.#deleteMany() : this.#count()),
    ])()
  }

  async compareAll(): Promise<void> {
    const found = await this.#allPages({ sort: new Map([['_id', 1]]) })
    assert.deepEqual(found, this.#matching(everythingSorted, byId).map(printJson))
  }

  async #insert(): Promise<void> {
    const documents = this.#random.list(1, 6, () => this.#newDocument())
    const ordered = this.#random.chance(0.5)
    const expected: Value[] = []
    let failures = 0
    for (const document of documents) {
      const key = idKey(document.get('_id')!)
      if (this.#documents.has(key)) failures++
      else if (failures === 0 || !ordered) {
        this.#documents.set(key, document)
        expected.push(document.get('_id')!)
      }
    }
    const answer = await this.#send('insertMany', {
      documents: [...documents],
      options: new Map([['ordered', ordered]]),
    })
    assert.equal(statusText(answer, 'insertedIds'), printJson(expected), this.#label)
    assert.equal(answer.codes.length, ordered ? Math.min(failures, 1) : failures)
    for (const code of answer.codes) assert.equal(code, 'DOCUMENT_ALREADY_EXISTS')
  }

  async #find(): Promise<void> {
    const random = this.#random
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const sort = randomSort(random, rule)
    const skip = sort.length > 0 && random.chance(0.3) ? random.integer(0, 30) : undefined
    const limit = random.chance(0.3) ? random.integer(1, 50) : undefined
    const options = new Map<string, Value>()
    if (skip !== undefined) options.set('skip', skip)
    if (limit !== undefined) options.set('limit', limit)
    const found = await this.#allPages({ ...clauses(filter, sort), options })
    const expected = this.#matching(filter, sort).map(printJson)
    if (sort.length > 0) {
      const end = limit === undefined ? undefined : (skip ?? 0) + limit
      assert.deepEqual(found, expected.slice(skip ?? 0, end), this.#label)
      return
    }
    assert.equal(found.length, Math.min(limit ?? Infinity, expected.length), this.#label)
    assert.equal(new Set(found).size, found.length, this.#label)
    const matching = new Set(expected)
    for (const text of found) assert(matching.has(text), this.#label)
  }

  async #findOne(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const sort = [...randomSort(this.#random, rule), ...byId]
    const once = sort.filter((key, i) => i === indexOfPath(sort, key))
    const answer = await this.#send('findOne', clauses(filter, once))
    const [first] = this.#matching(filter, once)
    const expected = first === undefined ? 'null' : printJson(first)
    assert.equal(answer.text, `{"data":{"document":${expected}}}`, this.#label)
  }

  async #count(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const answer = await this.#send('countDocuments', { filter: filterJson(filter) })
    const { length } = this.#matching(filter, [])
    assert.equal(answer.text, `{"status":{"count":${length}}}`, this.#label)
  }

  /** Updates the first match. The sort by _id determines which match is the first. */
  async #updateOne(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const update = this.#randomUpdate()
    const answer = await this.#send('findOneAndUpdate', {
      ...clauses(filter, byId),
      update,
      options: new Map([['returnDocument', 'after']]),
    })
    const [found] = this.#matching(filter, byId)
    const outcome = outcomeOf(update, found)
    if (outcome instanceof ApiError) {
      assert.deepEqual(answer.codes, [outcome.code], this.#label)
      return
    }
    const shown = outcome === undefined ? 'null' : printJson(outcome.document)
    const counts = {
      matched: found === undefined ? 0 : 1,
      modified: outcome?.changed ? 1 : 0,
    }
    assert.equal(
      answer.text,
      `{"data":{"document":${shown}},"status":{"matchedCount":${counts.matched},` +
        `"modifiedCount":${counts.modified}}}`,
      this.#label,
    )
    if (outcome !== undefined) this.#put(outcome.document)
  }

  /**
   * Updates all matches. Skips updates that some document rejects: it would be unknown which
   * documents were changed before the error.
   */
  async #updateMany(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const update = this.#randomUpdate()
    const outcomes = this.#matching(filter, []).map((found) => outcomeOf(update, found))
    const done = outcomes.filter(
      (outcome): outcome is Updated =>
        outcome !== undefined && !(outcome instanceof ApiError),
    )
    if (done.length < outcomes.length || refusalOf(update) !== undefined) return
    let [matched, modified] = [0, 0]
    let pageState: Value | undefined
    do {
      const options = new Map(pageState === undefined ? [] : [['pageState', pageState]])
      const answer = await this.#send('updateMany', {
        filter: filterJson(filter),
        update,
        options,
      })
      const { status } = answer.body
      assert.deepEqual(answer.codes, [], this.#label)
      matched += status!['matchedCount'] as number
      modified += status!['modifiedCount'] as number
      pageState = status!['nextPageState'] as string | undefined
    } while (pageState !== undefined)
    assert.equal(matched, outcomes.length, this.#label)
    assert.equal(modified, done.filter(({ changed }) => changed).length, this.#label)
    for (const { document } of done) this.#put(document)
  }

  async #replace(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const replacement = randomFields(this.#random, this.#shape)
    const answer = await this.#send('findOneAndReplace', {
      ...clauses(filter, byId),
      replacement,
    })
    const [found] = this.#matching(filter, byId)
    const shown = found === undefined ? 'null' : printJson(found)
    assert(answer.text.startsWith(`{"data":{"document":${shown}},`), this.#label)
    if (found !== undefined)
      this.#put(new Map([['_id', found.get('_id')!], ...replacement]))
  }

  async #deleteOne(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    const answer = await this.#send('deleteOne', clauses(filter, byId))
    const [found] = this.#matching(filter, byId)
    const deleted = found === undefined ? 0 : 1
    assert.equal(answer.text, `{"status":{"deletedCount":${deleted}}}`, this.#label)
    if (found !== undefined) this.#documents.delete(idKey(found.get('_id')!))
  }

  async #deleteMany(): Promise<void> {
    const filter = randomSentFilter(this.#random, this.#shape, rule)
    if (filter.kind === 'and' && filter.of.length === 0) return
    let deleted = 0
    let more: unknown
    do {
      const { body } = await this.#send('deleteMany', { filter: filterJson(filter) })
      // An empty filter deletes all documents. The reply then contains -1 instead of the count.
      if (body.status!['deletedCount'] === -1) deleted = this.#documents.size
      else deleted += body.status!['deletedCount'] as number
      more = body.status!['moreData']
    } while (more === true)
    const found = this.#matching(filter, [])
    assert.equal(deleted, found.length, this.#label)
    for (const document of found) this.#documents.delete(idKey(document.get('_id')!))
  }

  #matching(filter: Filter, sort: readonly SortKey[]): JsonObject[] {
    const found = [...this.#documents.values()].filter((one) => plainMatches(filter, one))
    return sort.length === 0 ? found : found.sort(compareBy(sort))
  }

  #put(document: JsonObject): void {
    this.#documents.set(idKey(document.get('_id')!), document)
  }

  #newDocument(): JsonObject {
    const id = randomId(this.#random, 150)
    return new Map([['_id', id], ...randomFields(this.#random, this.#shape)])
  }

  #randomUpdate(): JsonObject {
    const random = this.#random
    const update: JsonObject = new Map()
    for (const operator of random.list(1, 2, () => random.pick(updateOperators))) {
      const paths: JsonObject = new Map()
      for (const path of random.list(1, 2, () => random.pick(pathTexts)))
        paths.set(path, this.#argument(operator))
      update.set(operator, paths)
    }
    return update
  }

  #argument(operator: string): Value {
    const random = this.#random
    switch (operator) {
      case '$inc':
      case '$mul':
        return random.pick([0, 1, -1, 0.1, 2.5, 1e20])
      case '$pop':
        return random.pick([1, -1])
      case '$rename':
        return random.pick(pathTexts)
      case '$unset':
        return ''
      case '$push':
        if (random.chance(0.5)) return randomValue(random, this.#shape)
        return new Map<string, Value>([
          ['$each', random.list(0, 3, () => randomValue(random, this.#shape))],
          ['$position', random.integer(-3, 3)],
        ])
      case '$pullAll':
        return random.list(0, 4, () => randomValue(random, this.#shape))
      case '$pull':
        return this.#pulled()
      default:
        return randomValue(random, this.#shape)
    }
  }

  /** An operand of $pull: a value, an operator with a value, or a field with either. */
  #pulled(): Value {
    const random = this.#random
    const value = randomValue(random, this.#shape)
    const operator = random.pick(['$eq', '$ne', '$gt', '$lte', '$exists', '$size'])
    const choices = random.list(1, 3, () => randomValue(random, this.#shape))
    const said = random.pick<Value>([
      value,
      new Map([[operator, value]]),
      new Map([[random.pick(['$in', '$nin', '$all']), choices]]),
    ])
    return random.chance(0.5) ? said : new Map([[random.pick(pathTexts), said]])
  }

  async #allPages(given: Record<string, Value>): Promise<string[]> {
    const found: string[] = []
    let options = (given['options'] ?? new Map()) as JsonObject
    for (;;) {
      const { exact } = await this.#send('find', { ...given, options })
      const data = (exact as JsonObject).get('data') as JsonObject
      const documents = data.get('documents') as JsonObject[]
      found.push(...documents.map(printJson))
      const pageState = data.get('nextPageState')
      if (typeof pageState !== 'string') return found
      assert.equal(documents.length, defaultLimits.pageSize, this.#label)
      options = new Map(options).set('pageState', pageState)
    }
  }

  async #send(command: string, fields: Record<string, Value>): Promise<CommandAnswer> {
    const body = printJson(new Map([[command, new Map(Object.entries(fields))]]))
    this.#label = `seed ${seed}: ${body}`
    const answer = await this.#server.command(`/default_keyspace/${this.#name}`, body)
    assert.equal(answer.http, 200, this.#label)
    return answer
  }
}

const everythingSorted: Filter = { kind: 'and', of: [] }

const updateOperators = [
  ...['$set', '$set', '$unset', '$inc', '$mul', '$min', '$max'],
  ...['$rename', '$push', '$pop', '$addToSet', '$pull', '$pull', '$pullAll'],
]

interface Updated {
  readonly document: JsonObject
  readonly changed: boolean
}

/** The result of an update of a document, or its error; undefined when no document matches. */
function outcomeOf(
  update: JsonObject,
  found: JsonObject | undefined,
): Updated | ApiError | undefined {
  try {
    const plan = parseUpdate(update)
    if (found === undefined) return undefined
    const context = { inserting: false, nowMs: 0, limits: defaultLimits }
    const updated = atOnce(applyUpdate(plan, found, context))
    if (updated.changed) checkDocument(updated.document, rule, defaultLimits)
    return updated
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

function refusalOf(update: JsonObject): ApiError | undefined {
  const outcome = outcomeOf(update, undefined)
  return outcome instanceof ApiError ? outcome : undefined
}

function clauses(filter: Filter, sort: readonly SortKey[]): Record<string, Value> {
  return { filter: filterJson(filter), sort: sortJson(sort) }
}

function indexOfPath(keys: readonly SortKey[], { path }: SortKey): number {
  return keys.findIndex((other) => other.path.text === path.text)
}

function statusText(answer: CommandAnswer, name: string): string {
  const status = (answer.exact as JsonObject).get('status')
  return printJson(isObject(status) ? (status.get(name) ?? null) : null)
}
