import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { Budget } from '../../src/engine/embedded/plan/budget.ts'
import {
  createStore,
  openToWrite,
  storedTerm,
} from '../../src/engine/embedded/store/layout.ts'
import { findTermProblems } from '../../src/engine/embedded/lexical/check.ts'
import { LexicalReader } from '../../src/engine/embedded/lexical/reader.ts'
import { groupsOf } from '../../src/engine/embedded/lexical/search.ts'
import { countTerms, LexicalWriter } from '../../src/engine/embedded/lexical/writer.ts'
import {
  chunksOf,
  chunkSizeMax,
  Postings,
  TermList,
} from '../../src/engine/embedded/lexical/postings.ts'
import { StoreConnection } from '../../src/engine/embedded/store/store-connection.ts'
import { termScore, termWeight } from '../../src/search/lexical/bm25.ts'
import { Random, seed } from '../model/random.ts'

describe('lists of the index of terms', () => {
  const count = fc.oneof(fc.constant(1), fc.nat(5), fc.nat(2 ** 32 - 1))
  const entry = fc.tuple(
    fc.oneof(
      fc.constant(1),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 2 ** 40 }),
    ),
    count,
    count,
  )

  test('come back from their bytes as they were', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 80 }), (entries) => {
        const list = new TermList(0)
        const postings = new Postings(0)
        let number = 0
        for (const [distance, times, length] of entries) {
          number += distance
          list.push(number, times)
          postings.push(number, times, length)
        }
        const sameList = new TermList(2).decode(list.encode())
        assert.deepEqual(
          [
            taken(sameList.ids, list.size),
            taken(sameList.counts, list.size),
            sameList.size,
          ],
          [taken(list.ids, list.size), taken(list.counts, list.size), list.size],
        )
        const first = postings.seqs[0] ?? 0
        const same = new Postings(1).decode({ first, entries: postings.encode() })
        assert.deepEqual(rowsOf(same), rowsOf(postings))
      }),
      { seed },
    )
  })

  test('are cut into chunks that fit, and hold everything in order', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 200, maxLength: 3000 }),
        fc.boolean(),
        (entries, isEnd) => {
          const postings = new Postings(0)
          let seq = 0
          for (const [distance, times, length] of entries)
            postings.push((seq += distance), times, length)
          const chunks = chunksOf(postings, isEnd)
          assert(chunks.every(({ entries: { length } }) => length <= chunkSizeMax))
          const rows = chunks.flatMap((chunk) => rowsOf(new Postings(0).decode(chunk)))
          assert.deepEqual(rows, rowsOf(postings))
          // None is much smaller than the others, but for the last one of a list.
          const full = isEnd ? chunks.slice(0, -1) : chunks.length > 1 ? chunks : []
          assert(full.every(({ entries: { length } }) => length > chunkSizeMax / 3))
        },
      ),
      { seed, numRuns: 30 },
    )
  })

  test('have a name for every term', () => {
    const texts = [
      '&"',
      '&"\\"\\"',
      '\ud83d',
      '&"\ud83d',
      '"\\ud83d"',
      '&"\\"\\ud83d\\""',
      'a\0',
    ]
    const stored = texts.map(storedTerm)
    assert.equal(new Set(stored).size, texts.length)
    assert(stored.every((text) => text.isWellFormed()))
  })
})

test('groups of documents come best first, however many are wanted', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40)), fc.integer({ min: 1, max: 20 }), (list, wanted) => {
      const scored = {
        seqs: Float64Array.from(list.keys()),
        scores: Float64Array.from(list),
      }
      const groups = [...groupsOf(scored, wanted)]
      const expected = [...new Set(list)]
        .sort((a, b) => b - a)
        .map((score) => [score, [...list.keys()].filter((i) => list[i] === score)])
      assert.deepEqual(
        groups.map(({ score, seqs }) => [score, [...seqs].sort((a, b) => a - b)]),
        expected,
      )
    }),
    { seed },
  )
})

/** The index of one store, and what it should say, from a plain Map. */
class Model {
  readonly #random: Random
  readonly #vocabulary: readonly string[]
  readonly #wordsMax: number
  readonly #database: DatabaseSync
  readonly #writer: LexicalWriter
  readonly #connection: StoreConnection
  readonly #reader: LexicalReader
  #texts = new Map<number, readonly string[]>()
  #seq = 0

  constructor(context: TestContext, random: Random) {
    const folder = mkdtempSync(join(tmpdir(), 'stela-lexical-'))
    const file = join(folder, 'store.db')
    createStore(file)
    this.#random = random
    const size = random.pick([3, 30, 400])
    this.#wordsMax = random.pick([5, 60])
    const odd = ['\ud83d', '&"', '&"x', 'a\0b', '', '__proto__']
    this.#vocabulary = [...odd, ...Array.from({ length: size }, (_, i) => `w${i}`)]
    this.#database = openToWrite(file, false)
    this.#writer = new LexicalWriter(this.#database, '')
    this.#connection = new StoreConnection(file)
    this.#reader = new LexicalReader(this.#connection, '')
    context.after(() => {
      this.#database.close()
      this.#connection.close()
      rmSync(folder, { recursive: true })
    })
  }

  /** Some changes in one transaction, which may fail. */
  write(): void {
    const random = this.#random
    const before = new Map(this.#texts)
    const seqBefore = this.#seq
    this.#database.exec('BEGIN')
    for (let i = random.integer(1, 60); i > 0; i--) this.#change()
    if (random.chance(0.02)) {
      this.#writer.clear()
      this.#database.exec('DELETE FROM search')
      this.#texts.clear()
    }
    if (random.chance(0.1)) this.#writer.fold()
    if (random.chance(0.1)) {
      this.#database.exec('ROLLBACK')
      this.#writer.reload()
      this.#texts = before
      this.#seq = seqBefore
      return
    }
    this.#writer.finish()
    this.#database.exec('COMMIT')
  }

  #change(): void {
    const random = this.#random
    const seqs = [...this.#texts.keys()]
    if (seqs.length > 0 && random.chance(0.3)) {
      const seq = random.pick(seqs)
      if (random.chance(0.5)) this.#remove(seq)
      else this.#put(seq)
    } else this.#put((this.#seq += random.pick([1, 1, 1, 1, 7, 1000])))
  }

  #put(seq: number): void {
    // Squares make the first words common and the last ones rare.
    const terms = this.#random.list(0, this.#wordsMax, () => {
      const place = this.#random.next() ** 2 * this.#vocabulary.length
      return this.#vocabulary[Math.floor(place)]!
    })
    this.#texts.set(seq, terms)
    this.#writer.put(seq, countTerms(terms))
    this.#database
      .prepare('INSERT OR REPLACE INTO search VALUES (?, 0, NULL, NULL, \'"x"\')')
      .run(seq)
  }

  #remove(seq: number): void {
    this.#texts.delete(seq)
    this.#writer.remove(seq)
    this.#database.prepare('DELETE FROM search WHERE doc = ?').run(seq)
  }

  check(): void {
    const random = this.#random
    assert.deepEqual([...findTermProblems(this.#database, '')], [])
    this.#connection.beginRead()
    for (let i = 0; i < 6; i++) {
      this.#reader.begin()
      const terms = [...new Set(random.list(1, 4, () => random.pick(this.#vocabulary)))]
      const expected = [...this.#texts.keys()]
        .filter((seq) => terms.every((term) => this.#texts.get(seq)!.includes(term)))
        .sort((a, b) => a - b)
      this.#checkDocuments(terms, expected)
      this.#checkScores(terms, expected)
      for (const seq of random.list(0, 5, () => random.integer(0, this.#seq)))
        assert.equal(this.#reader.has(seq, terms), expected.includes(seq))
      assert(this.#reader.sizeMax(terms) >= expected.length)
    }
    this.#connection.endRead()
  }

  #checkDocuments(terms: readonly string[], expected: readonly number[]): void {
    const after = this.#random.pick([0, 0, this.#random.integer(0, this.#seq)])
    const steps = [...this.#reader.documents(terms, after, noBudget)]
    assert.deepEqual(
      steps.flat(),
      expected.filter((seq) => seq > after),
    )
  }

  #checkScores(terms: readonly string[], expected: readonly number[]): void {
    const all = [...this.#texts.values()]
    const corpus = {
      documents: all.length,
      tokens: all.reduce((sum, text) => sum + text.length, 0),
    }
    const scoreOf = (text: readonly string[]): number => {
      let score = 0
      for (const term of terms) {
        const having = all.filter((each) => each.includes(term)).length
        const times = text.filter((each) => each === term).length
        score += termScore(termWeight(corpus, having), times, text.length, corpus)
      }
      return score
    }
    const some = this.#random.chance(0.5)
      ? undefined
      : Float64Array.from(this.#texts.keys())
          .filter(() => this.#random.chance(0.3))
          .sort()
    const { seqs, scores } = this.#reader.score(terms, some, noBudget)
    const found = new Map(Array.from(seqs, (seq, i) => [seq, scores[i]!]))
    assert.equal(found.size, seqs.length)
    const wanted = expected.filter((seq) => some?.includes(seq) ?? true)
    assert.deepEqual(
      [...found].sort(([a], [b]) => a - b),
      wanted.map((seq) => [seq, scoreOf(this.#texts.get(seq)!)]),
    )
  }
}

const noBudget: Budget = { step: 1000, spend: () => undefined }

test(`the index of terms agrees with a plain Map, seed ${seed}`, (context) => {
  for (let run = 0; run < 12; run++) {
    const model = new Model(context, new Random(seed + run))
    for (let step = 0; step < 40; step++) {
      model.write()
      if (step % 4 === 0) model.check()
    }
    model.check()
  }
})

function taken(list: Float64Array | Uint32Array, size: number): number[] {
  return Array.from(list.subarray(0, size))
}

function rowsOf({ seqs, counts, lengths, size }: Postings): number[][] {
  return Array.from({ length: size }, (_, i) => [seqs[i]!, counts[i]!, lengths[i]!])
}
