/**
 * A random collection, which gets the same writes on several engines. Documents are inserted without
 * a vector, and gain or lose one later. Random finds are compared with a plain Map.
 */
import assert from 'node:assert/strict'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import type { Filter } from '../../src/language/filters/filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { compareBy } from '../../src/language/values/order.ts'
import { idKey } from '../../src/language/values/record-id.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'
import type { CommandAnswer } from '../harness.ts'
import { EnginesInStep, type Servers } from './engines-in-step.ts'
import { assertInGroups, grouped, groupsAbove } from './grouped-order.ts'
import { Oracle, type Kept } from './oracle.ts'
import {
  pathOf,
  Random,
  randomFields,
  randomId,
  randomSort,
  randomValue,
  type Shape,
} from './random.ts'
import { hasAnyTerm, hasTerms } from './search-oracle.ts'
import { filterJson, randomSentFilter, sortJson } from './sent-filters.ts'
import { similarity, type Metric } from './tables-oracle.ts'
import { Session, type Service } from './tables-session.ts'
import { Raw, randomVector } from './tables-values.ts'

const rule = indexingRule(undefined)
const fields = ['a', 'b', 'c', 'd']
const words = ['ant', 'bee', 'cat', 'dog']

/** Results whose similarities differ by less than this may come in any order. */
const tolerance = 1e-6

interface Found {
  readonly kept: Kept
  readonly score?: number
}

/** A find and the expected answer. */
interface Read {
  readonly filter: Filter
  readonly sort: Value
  readonly options: JsonObject
  /** Matching documents in groups. The documents of a group may come in any order. */
  readonly groups: readonly (readonly Found[])[]
  readonly limit: number | undefined
  readonly skip: number | undefined
  readonly isOnePage: boolean
  readonly sortVector: readonly number[] | null
}

type Show = (kept: Kept) => JsonObject

export class CollectionReadsModel {
  /** Number of reads of each kind. */
  readonly counts = new Map<string, number>()
  readonly #seed: number
  readonly #random: Random
  readonly #name: string
  readonly #oracle = new Oracle(rule)
  readonly #shape: Shape
  readonly #metric: Metric
  readonly #dimension: number
  readonly #all: Session
  readonly #each: ReadonlyMap<string, Session>

  /** The seed determines all random choices of the run. */
  constructor(servers: Servers, seed: number, name: string) {
    const random = new Random(seed)
    const engines = new EnginesInStep(servers)
    const session = (service: Service) => new Session(service, name)
    this.#seed = seed
    this.#random = random
    this.#name = name
    this.#shape = {
      nested: random.pick([0.1, 0.4]),
      scalars: random.pick([6, 12, 99]),
      fields: random.integer(2, 6),
    }
    this.#metric = random.pick(['cosine', 'dot_product', 'euclidean'] as const)
    this.#dimension = random.integer(2, 4)
    this.#all = session(engines)
    this.#each = new Map(
      [...engines.each].map(([engine, service]) => [engine, session(service)]),
    )
  }

  /** Runs until `isOver`, called after each read, returns true. */
  async run(isOver: (reads: number) => boolean): Promise<void> {
    try {
      await this.#create()
      for (let reads = 0; !isOver(reads); reads++) {
        if (reads % 10 === 0) await this.#write()
        await this.#read()
      }
    } catch (error) {
      throw new Error(await this.#all.explain(this.#seed), { cause: error })
    }
  }

  async #create(): Promise<void> {
    const vector = { dimension: this.#dimension, metric: this.#metric }
    const createCollection = { name: this.#name, options: { vector } }
    const body = new Raw(JSON.stringify({ createCollection }))
    const { codes } = await this.#all.send('', body)
    assert.deepEqual(codes, [])
  }

  async #write(): Promise<void> {
    const random = this.#random
    if (this.#oracle.size < 120) await this.#insert()
    for (let i = random.integer(0, 12); i > 0; i--) await this.#update()
    for (let i = random.integer(0, 3); i > 0; i--) await this.#delete()
  }

  async #insert(): Promise<void> {
    const random = this.#random
    const documents = new Map<string, JsonObject>()
    for (let i = random.integer(1, 40); i > 0; i--) {
      const id = randomId(random, 150)
      if (this.#oracle.has(id)) continue
      const document: JsonObject = new Map([
        ['_id', id],
        ...randomFields(random, this.#shape),
      ])
      if (random.chance(0.5)) document.set('$vector', this.#vector())
      if (random.chance(0.5)) document.set('$lexical', this.#text())
      documents.set(idKey(id), document)
    }
    const given = [...documents.values()]
    if (given.length === 0) return
    await this.#send(this.#all, 'insertMany', { documents: given })
    for (const document of given) this.#put(document)
  }

  /** Changes or removes a search field or another field of one document. */
  async #update(): Promise<void> {
    const random = this.#random
    const kept = this.#someDocument()
    if (kept === undefined) return
    const document = whole(kept)
    const name = random.pick(['$vector', '$vector', '$lexical', ...fields])
    const isRemoved = random.chance(0.35)
    const value =
      name === '$vector'
        ? this.#vector()
        : name === '$lexical'
          ? this.#text()
          : randomValue(random, this.#shape)
    if (isRemoved) document.delete(name)
    else document.set(name, value)
    const change = new Map([[name, isRemoved ? '' : value]])
    await this.#send(this.#all, 'updateOne', {
      filter: new Map([['_id', document.get('_id')!]]),
      update: new Map([[isRemoved ? '$unset' : '$set', change]]),
    })
    this.#put(document)
  }

  async #delete(): Promise<void> {
    const id = this.#someDocument()?.document.get('_id')
    if (id === undefined) return
    await this.#send(this.#all, 'deleteOne', { filter: new Map([['_id', id]]) })
    this.#oracle.delete(id)
  }

  #put(given: JsonObject): void {
    const document = new Map(given)
    const vector = document.get('$vector')
    const lexical = document.get('$lexical')
    document.delete('$vector')
    document.delete('$lexical')
    this.#oracle.put(document, {
      ...(vector !== undefined && {
        vector: { numbers: Float64Array.from(vector as number[]), form: 'array' },
      }),
      ...(lexical !== undefined && { lexical: lexical as string }),
    })
  }

  async #read(): Promise<void> {
    const random = this.#random
    const read = random.pick([
      () => this.#inAnyOrder(),
      () => this.#byValues(),
      () => this.#byVector(),
      () => this.#byVector(),
      () => this.#byWords(),
    ])()
    const { projection, show } = this.#projection()
    const clauses = {
      filter: filterJson(read.filter),
      sort: read.sort,
      ...(projection !== undefined && { projection }),
    }
    const isOne = random.chance(0.15)
    for (const [engine, session] of this.#each)
      try {
        if (isOne) await this.#one(session, clauses, read, show)
        else await this.#pages(session, clauses, read, show)
      } catch (error) {
        const { message } = error as Error
        const last = await session.explain(this.#seed)
        throw new Error(`${engine}: ${message}\n${last}`, { cause: error })
      }
  }

  async #pages(
    session: Session,
    clauses: Readonly<Record<string, Value>>,
    read: Read,
    show: Show,
  ): Promise<void> {
    const { limit, skip } = read
    const found: JsonObject[] = []
    let pageState: Value | undefined
    let isFirst = true
    do {
      const options = new Map(read.options)
      if (limit !== undefined) options.set('limit', limit)
      if (skip !== undefined) options.set('skip', skip)
      if (pageState !== undefined) options.set('pageState', pageState)
      const { exact } = await this.#send(session, 'find', { ...clauses, options })
      const data = (exact as JsonObject).get('data') as JsonObject
      const documents = data.get('documents') as JsonObject[]
      found.push(...documents)
      if (isFirst) this.#checkStatus((exact as JsonObject).get('status'), read)
      isFirst = false
      pageState = data.get('nextPageState') ?? undefined
      if (read.isOnePage) assert.equal(pageState, undefined)
      else if (pageState === undefined) assert(documents.length <= defaultLimits.pageSize)
      else assert.equal(documents.length, defaultLimits.pageSize)
    } while (pageState !== undefined)
    this.#check(found, read, show)
  }

  async #one(
    session: Session,
    clauses: Readonly<Record<string, Value>>,
    read: Read,
    show: Show,
  ): Promise<void> {
    const { options } = read
    const { exact } = await this.#send(session, 'findOne', { ...clauses, options })
    this.#checkStatus((exact as JsonObject).get('status'), read)
    const data = (exact as JsonObject).get('data') as JsonObject
    const document = data.get('document')
    const found = isObject(document) ? [document] : []
    this.#check(found, { ...read, limit: 1, skip: undefined }, show)
  }

  #checkStatus(status: Value | undefined, { options, sortVector }: Read): void {
    if (options.get('includeSortVector') !== true) return
    const told = (status as JsonObject).get('sortVector')
    assert.deepEqual(Array.isArray(told) ? told.map(Number) : told, sortVector)
  }

  #check(found: readonly JsonObject[], read: Read, show: Show): void {
    const { groups, limit, skip, options } = read
    const texts = groups.map((group) => group.map(({ kept }) => inText(show(kept))))
    assertInGroups(
      found.map((document) => {
        const shown = new Map(document)
        shown.delete('$similarity')
        return inText(shown)
      }),
      texts,
      { ...(limit !== undefined && { limit }), ...(skip !== undefined && { skip }) },
    )
    const scores = groups.flat().map(({ score }) => score)
    for (const [at, document] of found.entries()) {
      const told = document.get('$similarity')
      const score = options.get('includeSimilarity') === true ? scores[at] : undefined
      if (score === undefined) assert.equal(told, undefined)
      else
        assert(Math.abs(Number(told) - score) < tolerance, `${Number(told)}, not ${score}`)
    }
  }

  #inAnyOrder(): Read {
    this.#count('without a sort')
    const filter = this.#filter()
    const found = this.#oracle.found(filter).map((kept) => ({ kept }))
    return { filter, sort: new Map(), groups: [found], ...this.#more(false) }
  }

  #byValues(): Read {
    const filter = this.#filter()
    const sort = randomSort(this.#random, rule)
    if (sort.length === 0) sort.push({ path: pathOf('a'), direction: -1 })
    this.#count('by values')
    const compare = compareBy([...sort, byId])
    const found = this.#oracle.found(filter).map((kept) => ({ kept }))
    const groups = grouped(found, (a, b) => compare(a.kept.document, b.kept.document))
    return { filter, sort: sortJson(sort), groups, ...this.#more(true) }
  }

  #byVector(): Read {
    this.#count('by vector')
    const random = this.#random
    const filter = this.#filter()
    const query = randomVector(this.#dimension, random)
    const scored = this.#oracle.found(filter).flatMap((kept): Found[] => {
      const { vector } = kept.search
      if (!vector) return []
      return [{ kept, score: similarity(this.#metric, query, [...vector.numbers]) }]
    })
    const groups = grouped(scored, (a, b) => {
      const difference = b.score! - a.score!
      return Math.abs(difference) < tolerance ? 0 : difference
    })
    const options: JsonObject = new Map()
    if (random.chance(0.5)) options.set('includeSimilarity', random.chance(0.7))
    if (random.chance(0.5)) options.set('includeSortVector', random.chance(0.7))
    const above = random.chance(0.5) ? groupsAbove(groups, random) : undefined
    if (above !== undefined) options.set('minSimilarity', above.minimum)
    return {
      filter,
      sort: new Map([['$vector', query]]),
      options,
      groups: above?.groups ?? groups,
      limit: random.pick([undefined, 1, 2, 5, 20, 100]),
      skip: undefined,
      isOnePage: true,
      sortVector: query,
    }
  }

  #byWords(): Read {
    this.#count('by words')
    const filter = this.#filter()
    const text = this.#text(2)
    const searched = this.#oracle
      .found(filter)
      .map((kept) => ({
        kept,
        document: { _id: '', $lexical: kept.search.lexical ?? null },
      }))
      .filter(({ document }) => hasAnyTerm(document, text))
    // Documents with all terms are one group, documents with some terms another: other tests check
    // the order within each.
    const groups = [true, false].map((hasAll) =>
      searched
        .filter(({ document }) => hasTerms(document, text) === hasAll)
        .map(({ kept }) => ({ kept })),
    )
    const sort = new Map([['$lexical', text]])
    return { filter, sort, groups, ...this.#more(false) }
  }

  #more(skips: boolean) {
    const random = this.#random
    const isTold = random.chance(0.1)
    return {
      options: new Map<string, Value>(isTold ? [['includeSortVector', true]] : []),
      limit: random.chance(0.4) ? random.integer(1, 45) : undefined,
      skip: skips && random.chance(0.4) ? random.integer(0, 30) : undefined,
      isOnePage: false,
      sortVector: null,
    }
  }

  #filter(): Filter {
    return this.#random.chance(0.3)
      ? { kind: 'and', of: [] }
      : randomSentFilter(this.#random, this.#shape, rule)
  }

  /**
   * A projection that includes or excludes root fields, sometimes with search fields, and the
   * effect of the projection on a document.
   */
  #projection(): { readonly projection: JsonObject | undefined; readonly show: Show } {
    const random = this.#random
    if (random.chance(0.2))
      return { projection: undefined, show: ({ document }) => document }
    if (random.chance(0.1)) return { projection: new Map([['*', 1]]), show: whole }
    const includes = random.chance(0.5)
    const named = new Set(random.list(1, 3, () => random.pick(fields)))
    const projection: JsonObject = new Map(
      [...named].map((name) => [name, includes ? 1 : 0]),
    )
    const special = new Map(
      ['_id', '$vector', '$lexical'].flatMap((name) =>
        random.chance(0.4) ? [[name, random.chance(0.5)] as const] : [],
      ),
    )
    for (const [name, isShown] of special) projection.set(name, isShown ? 1 : 0)
    const isShown = (name: string) => {
      if (name === '_id') return special.get(name) ?? true
      if (name.startsWith('$')) return special.get(name) ?? false
      return named.has(name) === includes
    }
    const show: Show = (kept) => new Map([...whole(kept)].filter(([name]) => isShown(name)))
    return { projection, show }
  }

  #vector(): Value {
    return randomVector(this.#dimension, this.#random)
  }

  #text(max = 4): string {
    return this.#random.list(1, max, () => this.#random.pick(words)).join(' ')
  }

  #someDocument(): Kept | undefined {
    const { all } = this.#oracle
    return all.length === 0 ? undefined : this.#random.pick(all)
  }

  #count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  async #send(
    session: Session,
    command: string,
    given: Readonly<Record<string, Value>>,
  ): Promise<CommandAnswer> {
    const body = printJson(new Map([[command, new Map(Object.entries(given))]]))
    const answer = await session.send(this.#name, new Raw(body))
    assert.deepEqual(answer.codes, [], `${body}\n${answer.text}`)
    return answer
  }
}

const byId: SortKey = { path: pathOf('_id'), direction: 1 }

/** The document with its search fields as members. */
function whole({ document, search }: Kept): JsonObject {
  const shown = new Map(document)
  if (search.vector) shown.set('$vector', [...search.vector.numbers])
  if (search.lexical !== undefined) shown.set('$lexical', search.lexical)
  return shown
}

/** JSON text of a document that does not depend on the order of root fields. */
function inText(document: JsonObject): string {
  const shown = new Map(document)
  const vector = shown.get('$vector')
  if (Array.isArray(vector)) shown.set('$vector', vector.map(Number))
  const inOrder = [...shown].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return printJson(new Map(inOrder))
}
