import { ownCaller } from '../../../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { checked } from '../../contract/checked.ts'
import { checkStore } from '../../../../src/engine/embedded/backup/check.ts'
import { StoreReader } from '../../../../src/engine/embedded/read/store-reader.ts'
import type { ByTerms, Hit, Search, SearchResult } from '../../../../src/engine/contract.ts'
import { everything, type Filter } from '../../../../src/language/filters/filter.ts'
import type { SortKey } from '../../../../src/language/values/sort-key.ts'
import { documentView } from '../../../../src/engine/record-view.ts'
import { Random, seed } from '../../../model/random.ts'
import { openEmbedded } from '../embedded-store.ts'
import { insertion, LexicalStore, match, replacement, type Text } from './lexical-store.ts'
import { servingNothing } from '../../serving-nothing.ts'
import { among, by, exists, tester, where } from '../../store.ts'

/** Random texts, filters and orders from a vocabulary. */
class Words {
  readonly #random: Random
  readonly #vocabulary: number
  readonly #lengthMax: number
  #made = 0

  constructor(random: Random, vocabulary: number, lengthMax: number) {
    this.#random = random
    this.#vocabulary = vocabulary
    this.#lengthMax = lengthMax
  }

  /** A random word; words with lower numbers are more frequent. */
  word(): string {
    return `w${Math.floor(this.#random.next() ** 3 * this.#vocabulary)}`
  }

  text(): Text {
    const random = this.#random
    if (random.chance(0.1)) return random.pick([undefined, null, ''])
    return random.list(1, this.#lengthMax, () => this.word()).join(' ')
  }

  query(): string {
    return [...new Set(this.#random.list(1, 4, () => this.word()))].join(' ')
  }

  document(_id: number = this.#made++) {
    const random = this.#random
    return {
      _id,
      n: random.integer(0, 50),
      tags: random.list(0, 3, () => random.integer(0, 5)),
    }
  }

  filter(depth = 2): Filter {
    const random = this.#random
    const simple: readonly (() => Filter)[] = [
      () => everything,
      () => match(this.query()),
      () => where('n', random.pick(['eq', 'ne', 'gt', 'lte']), random.integer(0, 50)),
      () => where('_id', random.pick(['eq', 'gt', 'lt']), random.integer(0, this.#made)),
      () => among('tags', random.pick(['in', 'all', 'nin']), [random.integer(0, 5)]),
      () => exists('$lexical', random.chance(0.5)),
    ]
    if (depth === 0 || random.chance(0.5)) return random.pick(simple)()
    const of = random.list(1, 3, () => this.filter(depth - 1))
    return { kind: random.pick(['and', 'and', 'or']), of }
  }

  sort(): SortKey[] {
    return this.#random.pick([[], by('n'), by('-n'), by('-_id'), by('tags', 'n')])
  }
}

describe(`searches by terms in the embedded engine, seed ${seed}`, () => {
  test('return the same results as a full scan while texts are added, changed and removed', async (context) => {
    const { engine, fileOf } = await openEmbedded(context)
    for (let run = 0; run < 2; run++) {
      const random = new Random(seed + run)
      const words = new Words(random, random.pick([4, 40, 400]), random.pick([6, 60, 200]))
      const store = await LexicalStore.create(engine, `run${run}`)
      const reference = store.through(servingNothing(engine))
      const ids: number[] = []
      for (let step = 0; step < 8; step++) {
        await change(store, ids, random, words)
        for (let i = 0; i < 4; i++) await compare(store, reference, random, words)
      }
      assert.deepEqual(checkStore(fileOf(`run${run}`), documentView({})), [])
    }
  })

  async function change(store: LexicalStore, ids: number[], random: Random, words: Words) {
    if (random.chance(0.05)) {
      await store.engine.truncate(store.target)
      ids.length = 0
    }
    const added = random.list(1, 60, () => [words.document(), words.text()] as const)
    ids.push(...added.map(([{ _id }]) => _id))
    await store.insert(...added)
    for (const id of new Set(random.list(0, 10, () => random.pick(ids)))) {
      if (random.chance(0.4)) {
        assert.equal(await store.delete(id), 'done')
        ids.splice(ids.indexOf(id), 1)
      } else {
        const { search } = await store.one(id)
        const text = random.chance(0.3) ? search?.lexical : words.text()
        assert.equal(await store.replace(words.document(id), text), 'done')
      }
    }
  }

  async function compare(
    store: LexicalStore,
    reference: LexicalStore,
    random: Random,
    words: Words,
  ) {
    const query = words.query()
    const filter = words.filter()
    const limit = random.pick([1, 5, 1000])
    const about = `${query}, ${JSON.stringify(filter)}, ${limit}`
    for (const having of ['all', 'some'] as const)
      assert.deepEqual(
        await store.hits(query, filter, limit, having),
        await reference.hits(query, filter, limit, having),
        `${about}, ${having}`,
      )
    for (const having of ['all', 'some'] as const)
      assert.deepEqual(
        await store.pagesOfHits(query, filter, random.pick([1, 7, 40]), having),
        await reference.hits(query, filter, 10_000, having),
        `${about}, ${having}, by pages`,
      )
    const sort = words.sort()
    const found = await store.ids(filter, sort, random.pick([1, 7, 1000]))
    const expected = await reference.ids(filter, sort, 1000)
    if (sort.length > 0) assert.deepEqual(found, expected, about)
    else assert.deepEqual(found.sort(byNumber), expected.sort(byNumber), about)
    assert.equal(await store.count(filter), expected.length, about)
  }

  test('return the same results as a full scan for many texts with few differences', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'many')
    const reference = store.through(servingNothing(engine))
    const random = new Random(seed)
    const size = 1500
    // The order of _ids differs from the order of insertion, so the test detects ties that are
    // returned in the order of insertion.
    const documents = Array.from({ length: size }, (_, i) => {
      const words = ['all', i % 2 === 0 ? 'even' : 'odd', `m${i % 100}`, `n${i % 750}`]
      const text = `${words.join(' ')}${' all'.repeat(random.integer(0, 2))}`
      return [{ _id: (i * 7919) % size, n: i, group: i % 50 }, text] as const
    })
    for (let at = 0; at < size; at += 500)
      await store.insert(...documents.slice(at, at + 500))
    const filters: readonly Filter[] = [
      everything,
      where('group', 'eq', 7),
      where('n', 'lt', 1000),
      where('n', 'gte', 1490),
      match('m7'),
      { kind: 'or', of: [where('group', 'eq', 7), match('n5')] },
      where('_id', 'lt', 20),
    ]
    for (const words of [
      'all',
      'even all',
      'm7',
      'all m7 odd',
      'n5',
      'even m8 n8',
      'all none',
    ])
      for (const filter of filters)
        for (const limit of [3, 300])
          for (const having of ['all', 'some'] as const)
            assert.deepEqual(
              await store.hits(words, filter, limit, having),
              await reference.hits(words, filter, limit, having),
              `${words}, ${JSON.stringify(filter)}, ${limit}, ${having}`,
            )
    for (const words of ['all', 'all even', 'm7 odd'])
      assert.equal(await store.count(match(words)), await reference.count(match(words)))
  })

  test('read few postings of common words when rarer words decide the result', async (context) => {
    const { engine, fileOf } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'sentences')
    const size = 16_000
    const texts = Array.from({ length: size }, (_, i) => {
      const rare = i >= 4000 ? '' : i % 150 === 7 ? ' tree' : i % 200 === 9 ? ' garden' : ''
      return [{ _id: i }, `in a place${rare}`] as const
    })
    for (let at = 0; at < size; at += 1000)
      await store.insert(...texts.slice(at, at + 1000))
    const view = documentView({ lexical: { enabled: true, analyzer: 'standard' } })
    const reader = new StoreReader(fileOf('sentences'), view)
    context.after(() => reader.close())
    const costOf = (words: string) => {
      let units = 0
      const budget = { spend: (spent: number) => void (units += spent) }
      const by = {
        kind: 'lexical',
        path: '$lexical',
        terms: words.split(' '),
        text: '',
        having: 'some',
      } as const
      const wanted = { by, filter: everything, limit: 10, withSearchFields: false }
      const { hits } = reader.store.reading(() => reader.search(wanted, budget))
      assert.equal(hits.length, 10)
      return units
    }
    // The difference of both costs excludes the texts that wait for indexing, which every search
    // reads. One unit of cost is about 60 postings.
    const [rare, sentence] = [costOf('tree garden'), costOf('tree in a garden')]
    assert(sentence - rare < (2 * size) / 60 / 2, `${sentence} units, and ${rare}`)
  })

  test('see consistent states during writes', async (context) => {
    const { engine, fileOf } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'busy')
    const pairs = 40
    await store.insert(
      ...Array.from({ length: pairs }, (_, i) => [{ _id: i }, `left pair${i}`] as const),
    )
    let isDone = false
    // Each of the first 40 texts contains either "left" or "right". A write exchanges the word, so
    // the number of texts with one of the words stays the same.
    const writing = async () => {
      for (let round = 0; round < 60; round++) {
        const id = round % pairs
        const before = await store.one(id)
        const side = before.search?.lexical?.startsWith('left') ? 'right' : 'left'
        const outcomes = await store.write([
          replacement(before, { _id: id }, `${side} pair${id}`),
          insertion({ _id: `x${round}` }, `other ${'filler '.repeat(50)}word${round}`),
        ])
        assert.deepEqual(outcomes, ['done', 'done'])
        assert.deepEqual(await store.search(`${side} pair${id}`), [id])
        assert.deepEqual(await store.search(`word${round}`), [`x${round}`])
      }
    }
    const reading = async () => {
      while (!isDone) {
        // Short reads run synchronously. Without this pause, the event loop could not acknowledge
        // writes.
        await setImmediate()
        assert.equal((await store.search(`pair${pairs - 1}`)).length, 1)
        const both: Filter = { kind: 'or', of: [match('left'), match('right')] }
        assert.equal(await store.count(both), pairs)
        const hits = await store.search('other', everything, 1000)
        assert.equal(new Set(hits).size, hits.length)
      }
    }
    await Promise.all([writing().finally(() => (isDone = true)), reading(), reading()])
    assert.deepEqual(checkStore(fileOf('busy'), documentView({})), [])
  })

  test('end when their caller is aborted', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'given-up')
    await store.insert([{ _id: 1 }, 'word'])
    const giveUp = new AbortController()
    giveUp.abort()
    const by = {
      kind: 'lexical',
      path: '$lexical',
      terms: ['word'],
      text: '',
      having: 'all',
    } as const
    const search = { by, filter: everything, limit: 5, withSearchFields: false }
    await assert.rejects(engine.search(store.target, search, ownCaller(giveUp.signal)))
  })

  test('return search fields only when requested', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'fields')
    await store.insert([{ _id: 1 }, 'word'])
    const by = {
      kind: 'lexical',
      path: '$lexical',
      terms: ['word'],
      text: '',
      having: 'all',
    } as const
    const search = { by, filter: everything, limit: 5, withSearchFields: true }
    const found = await engine.search(store.target, search, tester)
    assert.deepEqual(
      found?.hits.map(({ record }) => record.search),
      [{ lexical: 'word' }],
    )
  })
})

/** Ways to violate the contract of searches, and the message of each violation. */
const spoiledHits: Readonly<
  Record<string, readonly [(hits: readonly Hit[]) => readonly Hit[], RegExp]>
> = {
  'hits in the wrong order': [(hits) => hits.toReversed(), /stand the wrong way round/],
  'ties in the wrong order': [
    (hits) => hits.toReversed().map((hit) => ({ ...hit, score: 1 })),
    /stand the wrong way round/,
  ],
  'a hit that comes twice': [([first]) => [first!, first!], /search: 1 came twice/],
  'more hits than the limit': [(hits) => [...hits, ...hits], /4 hits, where at most 3 fit/],
  'a score that is not a number': [
    ([first]) => [{ ...first!, score: NaN }],
    /NaN is no score, of \{"_id":1/,
  ],
  'a hit that does not match': [
    ([first]) => [
      { score: 1, record: { id: 3, text: '{"_id":3,"n":0}', version: 1 } },
      { ...first!, score: 0.5 },
    ],
    /search: the filter was served, but \{"_id":3,"n":0\} does not match it/,
  ],
}

/**
 * Ways to violate the contract of later pages, and the message of each violation. Each way changes
 * a result, given the result of the previous page.
 */
const spoiledPages: Readonly<
  Record<
    string,
    readonly [(found: SearchResult, before: SearchResult) => SearchResult, RegExp]
  >
> = {
  'a hit of the earlier page': [
    (found, before) => ({ ...found, hits: [...before.hits, ...found.hits] }),
    /these stand the wrong way round: 1, which has/,
  ],
  'scores with statistics other than those of the earlier page': [
    ({ hits, statistics }) => ({ hits, statistics: { ...statistics!, tokens: 99 } }),
    /other statistics were given/,
  ],
  'scores without their statistics': [
    ({ hits }) => ({ hits }),
    /statistics of the scores are missing/,
  ],
}

describe('the checked engine', () => {
  const search: Search = {
    by: { kind: 'lexical', path: '$lexical', terms: ['word'], text: '', having: 'all' },
    filter: where('n', 'gt', 0),
    limit: 3,
    withSearchFields: false,
  }

  test('notices a text without the requested terms', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'books')
    await store.insert([{ _id: 1, n: 1 }, 'one word'], [{ _id: 2, n: 1 }, 'other'])
    const given = (terms: readonly string[], having: ByTerms['having']): Search => ({
      ...search,
      by: { kind: 'lexical', path: '$lexical', terms, text: '', having },
      withSearchFields: true,
    })
    const found = await engine.search(store.target, given(['one'], 'all'), tester)
    const spoiled = checked({
      ...engine,
      search: (_, { by }) => {
        const terms = by.kind === 'lexical' ? by.terms : []
        const documentFrequencies = terms.map(() => 1)
        const statistics = { ...found!.statistics!, documentFrequencies }
        return Promise.resolve({ hits: found!.hits, statistics })
      },
    })
    const ask = (terms: readonly string[], having: ByTerms['having']) =>
      spoiled.search(store.target, given(terms, having), tester)
    assert.equal((await ask(['other', 'one'], 'some'))?.hits.length, 1)
    await assert.rejects(ask(['other', 'one'], 'all'), /1 of the terms other, one/)
    await assert.rejects(ask(['other'], 'some'), /0 of the terms other/)
  })

  for (const [name, [spoil, message]] of Object.entries(spoiledHits))
    test(`notices ${name}`, async (context) => {
      const { engine } = await openEmbedded(context)
      const store = await LexicalStore.create(engine, 'books')
      await store.insert([{ _id: 1, n: 1 }, 'word'], [{ _id: 2, n: 1 }, 'word and others'])
      const spoiled = checked({
        ...engine,
        search: async (...given) => {
          const found = (await engine.search(...given))!
          return { ...found, hits: spoil(found.hits) }
        },
      })
      await assert.rejects(spoiled.search(store.target, search, tester), message)
    })

  for (const [name, [spoil, message]] of Object.entries(spoiledPages))
    test(`notices ${name}`, async (context) => {
      const { engine } = await openEmbedded(context)
      const store = await LexicalStore.create(engine, 'books')
      await store.insert([{ _id: 1, n: 1 }, 'word'], [{ _id: 2, n: 1 }, 'word and others'])
      const first = (await engine.search(store.target, { ...search, limit: 1 }, tester))!
      const [{ score, record }] = first.hits as [Hit]
      const page = { after: { score, id: record.id }, statistics: first.statistics }
      const spoiled = checked({
        ...engine,
        search: async (target, given, tester) =>
          spoil((await engine.search(target, given, tester))!, first),
      })
      await assert.rejects(
        spoiled.search(store.target, { ...search, ...page }, tester),
        message,
      )
    })

  test('rejects the position of another search', async (context) => {
    const { engine } = await openEmbedded(context)
    const { target } = await LexicalStore.create(engine, 'books')
    const statistics = { documents: 1, tokens: 1, documentFrequencies: [1, 1] }
    const after = { score: 1, id: 1 }
    await assert.rejects(
      engine.search(target, { ...search, after, statistics }, tester),
      /other terms/,
    )
    const by = { kind: 'vector', path: '$vector', numbers: Float32Array.of(1) } as const
    const nearest = { ...search, by, after }
    await assert.rejects(engine.search(target, nearest, tester), /has one page/)
  })

  test('rejects a search without terms', async (context) => {
    const { engine } = await openEmbedded(context)
    const { target } = await LexicalStore.create(engine, 'books')
    const nothing: Search = {
      ...search,
      by: { kind: 'lexical', path: '$lexical', terms: [], text: '', having: 'all' },
    }
    await assert.rejects(engine.search(target, nothing, tester), /must be a term/)
  })
})

function byNumber(a: unknown, b: unknown): number {
  return Number(a) - Number(b)
}
