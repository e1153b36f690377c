/**
 * Random writes over HTTP, followed by hybrid searches. Their ranks are compared with a brute-force
 * search. It orders candidates by similarity, and by BM25: first those with all terms, then those
 * with some terms.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LetterModels } from '../commands/letter-models.ts'
import { startServer, type TestServer } from '../harness.ts'
import { Random, seed } from './random.ts'
import { bySimilarity, byTerms } from './search-oracle.ts'

interface Book {
  readonly _id: number
  readonly n: number
  readonly about?: string | null
  readonly $vector?: readonly number[] | null
  readonly $lexical?: string | null
}

interface Ranks {
  readonly $vectorRank: number | null
  readonly $bm25Rank: number | null
}

const vocabulary = 'a in the tree garden house stone river moss fern'.split(' ')

describe(`hybrid searches compared with brute force, seed ${seed}`, () => {
  let server: TestServer
  let models: LetterModels
  before(async () => {
    models = await LetterModels.start()
    server = await startServer({ durable: false, providers: models.settings })
  })
  after(async () => {
    await server.close()
    models.close()
  })

  for (const [round, indexing] of [undefined, { deny: ['about'] }].entries())
    test(`have the same ranks with ${indexing === undefined ? 'every field' : 'some fields'} indexed`, async () => {
      const random = new Random(seed + round)
      const path = `/default_keyspace/books${round}`
      const options = { vector: { dimension: 3 }, ...(indexing && { indexing }) }
      const name = `books${round}`
      await server.command('/default_keyspace', { createCollection: { name, options } })
      const books = new Map<number, Book>()
      for (let step = 0; step < 40; step++) {
        const _id = random.integer(0, 120)
        const book = bookOf(_id, random)
        await server.command(path, {
          findOneAndReplace: {
            filter: { _id },
            replacement: book,
            options: { upsert: true },
          },
        })
        books.set(_id, book)
        if (step % 4 === 0)
          for (const more of random.list(1, 10, () => random.integer(200, 400))) {
            const other = bookOf(more, random)
            if (books.has(more)) continue
            await server.command(path, { insertOne: { document: other } })
            books.set(more, other)
          }
        await compare(path, books, random)
      }
    })

  function bookOf(_id: number, random: Random): Book {
    const text = () => random.list(1, 6, () => random.pick(vocabulary)).join(' ')
    const about = random.pick([undefined, null, ' ', 'ant', 'ant ant'])
    const $vector = random.chance(0.7)
      ? [random.next() + 0.1, random.next(), random.next()]
      : random.pick([undefined, null])
    const $lexical = random.chance(0.7) ? text() : random.pick([undefined, null, '', ' '])
    return {
      _id,
      n: random.integer(0, 3),
      ...(about !== undefined && { about }),
      ...($vector !== undefined && { $vector }),
      ...($lexical !== undefined && { $lexical }),
    }
  }

  async function compare(path: string, books: ReadonlyMap<number, Book>, random: Random) {
    const query = [random.next() + 0.1, random.next(), random.next()]
    const words = random.list(1, 4, () => random.pick(vocabulary)).join(' ')
    const rerankOn = random.pick(['$lexical', 'about'])
    const n = random.pick([undefined, 1])
    const limits = { $vector: random.integer(1, 12), $lexical: random.integer(1, 12) }
    const { body } = await server.command(path, {
      findAndRerank: {
        filter: n === undefined ? {} : { n },
        sort: { $hybrid: { $vector: query, $lexical: words } },
        options: {
          limit: 100,
          hybridLimits: limits,
          rerankOn,
          rerankQuery: 'ant',
          includeScores: true,
        },
      },
    })
    const takesPart = ({ document }: { readonly document: Book }) =>
      Boolean(document.$vector) &&
      Boolean(document.$lexical?.trim()) &&
      (n === undefined || document.n === n) &&
      (rerankOn === '$lexical' || Boolean(document.about?.trim()))
    // BM25 uses the statistics of all texts, including texts of books that do not match the filter.
    const bm25 = byTerms(books.values(), words)
    const expected = new Map<
      number,
      { $vectorRank: number | null; $bm25Rank: number | null }
    >()
    const nearest = bySimilarity(books.values(), 'cosine', query).filter(takesPart)
    for (const [i, { document }] of nearest.slice(0, limits.$vector).entries())
      expected.set(document._id, { $vectorRank: i + 1, $bm25Rank: null })
    for (const [i, { document }] of bm25
      .filter(takesPart)
      .slice(0, limits.$lexical)
      .entries())
      expected.set(document._id, {
        $vectorRank: expected.get(document._id)?.$vectorRank ?? null,
        $bm25Rank: i + 1,
      })
    const responses = body.status!['documentResponses'] as { scores: Ranks }[]
    const found = body.data!.documents!.map(({ _id }, i) => {
      const { $vectorRank, $bm25Rank } = responses[i]!.scores
      return [_id, { $vectorRank, $bm25Rank }] as const
    })
    assert.deepEqual(
      found.toSorted(([a], [b]) => Number(a) - Number(b)),
      [...expected].toSorted(([a], [b]) => a - b),
      `${words}, by ${rerankOn}, n ${n}, ${JSON.stringify(limits)}`,
    )
  }
})
