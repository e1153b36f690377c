import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { Budget } from '../../../../src/engine/embedded/store/budget.ts'
import {
  createStore,
  openToWrite,
  storedTerm,
} from '../../../../src/engine/embedded/store/layout.ts'
import { findTermProblems } from '../../../../src/engine/embedded/lexical/check.ts'
import { LexicalReader } from '../../../../src/engine/embedded/lexical/reader.ts'
import type { Scored } from '../../../../src/engine/embedded/lexical/top-scores.ts'
import { groupsOf } from '../../../../src/engine/embedded/read/lexical-search.ts'
import {
  countTerms,
  LexicalWriter,
} from '../../../../src/engine/embedded/lexical/writer.ts'
import { DocumentList } from '../../../../src/engine/embedded/lexical/document-list.ts'
import { Postings } from '../../../../src/engine/embedded/lexical/postings.ts'
import { Segments } from '../../../../src/engine/embedded/lexical/segments.ts'
import { TermList } from '../../../../src/engine/embedded/lexical/term-list.ts'
import { StoreConnection } from '../../../../src/engine/embedded/store/store-connection.ts'
import { termScore, termWeight } from '../../../../src/search/lexical/bm25.ts'
import { Random, seed } from '../../../model/random.ts'

describe('lists of the index of terms', () => {
  const count = fc.oneof(
    fc.constant(1),
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  )
  const distance = (max: number) =>
    fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max }))

  test('are read from their bytes as they were written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(distance(2 ** 24), count), { maxLength: 80 }),
        (entries) => {
          const list = new TermList(0)
          let number = 0
          for (const [more, times] of entries) list.push((number += more), times)
          const same = new TermList(2).decode(list.encode())
          assert.deepEqual(
            [taken(same.ids, list.size), taken(same.counts, list.size), same.size],
            [taken(list.ids, list.size), taken(list.counts, list.size), list.size],
          )
        },
      ),
      { seed },
    )
  })

  test('are read from a segment as they were written, whether short or long', async (context) => {
    const { database } = await openStore(context)
    const segments = new Segments(database, '', 1000)
    segments.reload()
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            step: fc.integer({ min: 1, max: 300 }),
            distanceMax: fc.constantFrom(1, 3, 20),
            size: fc.oneof(
              fc.integer({ min: 1, max: 300 }),
              fc.integer({ min: 1, max: 9000 }),
            ),
            counts: fc.array(count, { minLength: 1, maxLength: 7 }),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        (made) => {
          const random = new Random(seed)
          let term = 0
          let placeMax = 0
          const lists = made.map(({ step, distanceMax, size, counts }) => {
            const postings = new Postings(0)
            let place = -1
            for (let i = 0; i < size; i++) {
              place += random.integer(1, distanceMax)
              postings.push(place, counts[i % counts.length]!)
            }
            placeMax = Math.max(placeMax, place)
            return { term: (term += step), postings }
          })
          const first = 7
          const seqs = Array.from({ length: placeMax + 1 }, (_, i) => first + i)
          const longest = random.pick([200, 60_000, 2 ** 31])
          const lengths = Uint32Array.from(seqs, () => random.integer(0, longest))
          segments.add(DocumentList.of(seqs), lengths, [3, 9], (segment) => {
            for (const { term: id, postings } of lists) segment.add(id, postings, lengths)
          })
          const segment = segments.made.at(-1)!
          assert.deepEqual(Array.from(segment.replaced), [3, 9])
          assert.deepEqual(Array.from(segment.documents.toArray()), seqs)
          assert.deepEqual(segment.allLengths(), lengths)
          for (const { term: id, postings } of lists) {
            const list = segment.list(id)!
            assert.equal(list.size, postings.size)
            const same = new Postings(0)
            segment.decode(list, same)
            assert.deepEqual(rowsOf(same), rowsOf(postings))
            const places = new Set(postings.places.subarray(0, postings.size))
            for (const place of random.list(10, 10, () => random.integer(0, placeMax)))
              assert.equal(segment.has(list, place), places.has(place))
          }
          assert.equal(segment.list(term + 1), undefined)
          const terms = Array.from(segment.entries(), ({ entry }) => entry.term)
          assert.deepEqual(
            terms,
            lists.map(({ term: id }) => id),
          )
        },
      ),
      { seed, numRuns: 12 },
    )
  })

  test('map each document to its position and back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(200)), (chosen) => {
        const seqs = chosen.sort((a, b) => a - b)
        const list = DocumentList.of(seqs)
        assert.deepEqual(Array.from(list.toArray()), seqs)
        for (let seq = 0; seq <= 201; seq++) {
          assert.equal(list.placeOf(seq), seqs.indexOf(seq))
          const from = seqs.findIndex((each) => each >= seq)
          assert.equal(list.placeFrom(seq), from < 0 ? seqs.length : from)
        }
        assert.deepEqual(
          seqs.map((_, place) => list.seqAt(place)),
          seqs,
        )
      }),
      { seed },
    )
  })

  test('store every term as a distinct, well-formed text', () => {
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

test('documents with equal scores are returned in groups, from the best score to the worst', () => {
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

/** A store of a collection, in a temporary folder. */
async function openStore(
  context: TestContext,
): Promise<{ database: DatabaseSync; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'stela-lexical-'))
  const file = join(folder, 'store.db')
  await createStore(file)
  const database = openToWrite(file, false)
  context.after(() => {
    database.close()
    rmSync(folder, { recursive: true })
  })
  return { database, file }
}

/** The index of one store, and its expected content in a plain Map. */
class Model {
  readonly #random: Random
  readonly #vocabulary: readonly string[]
  readonly #wordsMax: number
  readonly #database: DatabaseSync
  #writer: LexicalWriter
  readonly #connection: StoreConnection
  readonly #reader: LexicalReader
  #texts = new Map<number, readonly string[]>()
  #seq = 0

  constructor(
    context: TestContext,
    random: Random,
    { database, file }: Awaited<ReturnType<typeof openStore>>,
  ) {
    this.#random = random
    const size = random.pick([3, 30, 400])
    this.#wordsMax = random.pick([5, 60])
    const odd = ['\ud83d', '&"', '&"x', 'a\0b', '', '__proto__']
    this.#vocabulary = [...odd, ...Array.from({ length: size }, (_, i) => `w${i}`)]
    this.#database = database
    this.#writer = new LexicalWriter(this.#database, '')
    this.#connection = new StoreConnection(file)
    this.#reader = new LexicalReader(this.#connection, '')
    context.after(() => this.#connection.close())
  }

  /** Makes random changes in one transaction, and sometimes rolls it back. */
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
    if (random.chance(0.3)) this.#writer.fold()
    // Merge steps are small, so that other changes occur between them.
    if (random.chance(0.3)) this.#writer.mergeWhileIdle(random.pick([1, 100, 100_000]))
    if (random.chance(0.1)) {
      this.#database.exec('ROLLBACK')
      this.#writer.reload()
      this.#texts = before
      this.#seq = seqBefore
      return
    }
    if (random.chance(0.5)) this.#writer.keepUp()
    this.#writer.finish()
    this.#database.exec('COMMIT')
    // Simulates a restart after a crash. The new writer must continue unfinished merges.
    if (random.chance(0.1)) this.#writer = new LexicalWriter(this.#database, '')
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
    // Squaring makes the first words common and the last ones rare.
    const terms = this.#random.list(0, this.#wordsMax, () => {
      const place = this.#random.next() ** 2 * this.#vocabulary.length
      return this.#vocabulary[Math.floor(place)]!
    })
    this.#texts.set(seq, terms)
    this.#writer.put(seq, countTerms(terms))
    this.#database
      .prepare('INSERT OR REPLACE INTO search VALUES (?, 0, NULL, NULL, \'"x"\', NULL)')
      .run(seq)
  }

  #remove(seq: number): void {
    this.#texts.delete(seq)
    this.#writer.remove(seq)
    this.#database.prepare('DELETE FROM search WHERE doc = ?').run(seq)
  }

  check(): void {
    const random = this.#random
    const texts = Array.from(this.#texts, ([seq, terms]) => ({ seq, terms }))
    assert.deepEqual([...findTermProblems(this.#database, '', texts)], [])
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
    const texts = [...this.#texts.values()]
    const corpus = {
      documents: texts.length,
      tokens: texts.reduce((sum, text) => sum + text.length, 0),
    }
    const weights = terms.map((term) =>
      termWeight(corpus, texts.filter((each) => each.includes(term)).length),
    )
    const scoreOf = (text: readonly string[]): number => {
      let score = 0
      for (const [i, term] of terms.entries()) {
        const times = text.filter((each) => each === term).length
        if (times > 0) score += termScore(weights[i]!, times, text.length, corpus)
      }
      return score
    }
    const some = this.#random.chance(0.5)
      ? undefined
      : Float64Array.from(this.#texts.keys())
          .filter(() => this.#random.chance(0.3))
          .sort()
    const having = expected.filter((seq) => some?.includes(seq) ?? true)
    const all = having.map((seq) => [seq, scoreOf(this.#texts.get(seq)!)] as const)
    assert.deepEqual(
      inOrder(this.#reader.scoreWithAll(terms, { among: some }, noBudget)),
      all,
    )
    // The search must return the best `wanted` documents below the ceiling, all documents that tie
    // with the last of them, and all documents whose score equals the ceiling.
    const wanted = this.#random.integer(1, 12)
    const ceiling = this.#random.pick([undefined, ...all.map(([, score]) => score)])
    const below = all.filter(([, score]) => ceiling === undefined || score < ceiling)
    const floor = below.map(([, score]) => score).sort((a, b) => b - a)[wanted - 1] ?? 0
    assert.deepEqual(
      inOrder(this.#reader.scoreWithAll(terms, { among: some, wanted, ceiling }, noBudget)),
      all.filter(
        ([, score]) => score === ceiling || (score >= floor && !(score > ceiling!)),
      ),
    )
    const partial = [...this.#texts]
      .filter(
        ([seq, text]) =>
          terms.some((term) => text.includes(term)) &&
          !terms.every((term) => text.includes(term)) &&
          (some?.includes(seq) ?? true),
      )
      .map(([seq, text]) => [seq, scoreOf(text)] as const)
      .sort(([a], [b]) => a - b)
    const top = this.#random.pick([undefined, ...partial.map(([, score]) => score)])
    const others = partial.filter(([, score]) => top === undefined || score < top)
    const lowest = others.map(([, score]) => score).sort((a, b) => b - a)[wanted - 1] ?? 0
    assert.deepEqual(
      inOrder(
        this.#reader.scoreWithSome(terms, { among: some, wanted, ceiling: top }, noBudget),
      ),
      partial.filter(([, score]) => score === top || (score >= lowest && !(score > top!))),
    )
  }
}

const noBudget: Budget = { spend: () => undefined }

test(`the index of terms agrees with a plain Map, seed ${seed}`, async (context) => {
  for (let run = 0; run < 12; run++) {
    const model = new Model(context, new Random(seed + run), await openStore(context))
    for (let step = 0; step < 40; step++) {
      model.write()
      if (step % 4 === 0) model.check()
    }
    model.check()
  }
})

test('a segment that contains only deletions is merged like other segments', async (context) => {
  const { database, file } = await openStore(context)
  const writer = new LexicalWriter(database, '')
  const texts = ['a', 'b'].map((term, i) => ({ seq: i + 1, terms: [term] }))
  const changes: (() => void)[] = [
    () => texts.forEach(({ seq, terms }) => writer.put(seq, countTerms(terms))),
    () => writer.remove(1),
    () => writer.put(3, countTerms(['c'])),
  ]
  for (const change of changes) {
    database.exec('BEGIN')
    change()
    writer.fold()
    writer.finish()
    database.exec('COMMIT')
  }
  while (writer.isMergeDue) writer.mergeWhileIdle()
  assert.equal(writer.debt.segments, 1)
  const left = [texts[1]!, { seq: 3, terms: ['c'] }]
  assert.deepEqual([...findTermProblems(database, '', left)], [])
  const connection = new StoreConnection(file)
  context.after(() => connection.close())
  const reader = new LexicalReader(connection, '')
  connection.reading(() => {
    for (const [seq, term] of [...'abc'].entries())
      assert.equal(reader.has(seq + 1, [term]), term !== 'a')
  })
})

test(`an index is intact after every step of a merge, seed ${seed}`, async (context) => {
  const { database, file } = await openStore(context)
  const random = new Random(seed)
  const texts = new Map<number, readonly string[]>()
  const writer = new LexicalWriter(database, '')
  // The writer does not merge after only three folds, so all merge steps occur in the loop below.
  for (let fold = 0; fold < 3; fold++) {
    database.exec('BEGIN')
    for (let i = 0; i < 60; i++) {
      const seq = random.chance(0.2) ? random.integer(1, fold * 60 + 1) : fold * 60 + i + 1
      const terms = random.list(0, 20, () => `w${random.integer(0, 200)}`)
      texts.set(seq, terms)
      writer.put(seq, countTerms(terms))
    }
    for (const seq of random.list(0, 20, () => random.pick([...texts.keys()])))
      if (texts.delete(seq)) writer.remove(seq)
    writer.fold()
    writer.finish()
    database.exec('COMMIT')
  }
  const checked = Array.from(texts, ([seq, terms]) => ({ seq, terms }))
  let steps = 0
  for (; writer.isMergeDue; steps++) {
    database.exec('BEGIN')
    writer.mergeWhileIdle(random.pick([1, 1, 200]))
    database.exec('COMMIT')
    // Copies the file and its log, as they would be if the process were killed at this step.
    const copy = `${file}-${steps}`
    for (const end of ['', '-wal']) copyFileSync(file + end, copy + end)
    const left = openToWrite(copy, false)
    try {
      assert.deepEqual([...findTermProblems(left, '', checked)], [], `step ${steps}`)
      const heir = new LexicalWriter(left, '')
      while (heir.isMergeDue) heir.mergeWhileIdle()
      assert.deepEqual([...findTermProblems(left, '', checked)], [], `after step ${steps}`)
      const rows = left.prepare('SELECT count(*) AS count FROM textsegment').get()!
      assert.equal(rows['count'], 1)
    } finally {
      left.close()
    }
  }
  assert(steps > 20, `${steps} steps`)
})

test(`long posting lists return the best documents with exact scores, seed ${seed}`, async (context) => {
  const { database, file } = await openStore(context)
  const random = new Random(seed)
  const writer = new LexicalWriter(database, '')
  const words = Array.from({ length: 24 }, (_, i) => `w${i}`)
  /**
   * For each document: the number of occurrences of each word, followed by the length of the text
   * in words.
   */
  const texts = new Map<number, readonly number[]>()
  const put = (seq: number): void => {
    const counts = words.map((_, i) =>
      random.chance(1 / (1 + i / 3)) ? random.integer(1, random.pick([1, 3, 9, 80])) : 0,
    )
    const length = counts.reduce((sum, count) => sum + count, 0)
    texts.set(seq, [...counts, length])
    const having = counts.flatMap((count, i) => (count > 0 ? [[i, count]] : []))
    const termCounts = Uint32Array.from(having.flat())
    writer.put(seq, { terms: words, termCounts, from: 0, to: having.length })
  }
  for (let fold = 0; fold < 8; fold++) {
    database.exec('BEGIN')
    for (let i = 0; i < 900; i++) put(fold * 1000 + i)
    for (const seq of random.list(0, 40, () => random.pick([...texts.keys()])))
      if (random.chance(0.5)) put(seq)
      else if (texts.delete(seq)) writer.remove(seq)
    if (fold < 7) writer.fold()
    if (random.chance(0.5)) writer.mergeWhileIdle(5000)
    writer.finish()
    database.exec('COMMIT')
  }
  const connection = new StoreConnection(file)
  context.after(() => connection.close())
  const reader = new LexicalReader(connection, '')
  const corpus = {
    documents: texts.size,
    tokens: [...texts.values()].reduce((sum, counts) => sum + counts.at(-1)!, 0),
  }
  const weights = words.map((_, i) =>
    termWeight(corpus, [...texts.values()].filter((counts) => counts[i]! > 0).length),
  )
  connection.reading(() => {
    for (let i = 0; i < 60; i++) {
      const chosen = [...new Set(random.list(1, 5, () => random.integer(0, 23)))]
      const terms = chosen.map((word) => words[word]!)
      const wanted = random.pick([1, 20, 300])
      const scored = [...texts].map(([seq, counts]) => {
        let score = 0
        for (const word of chosen)
          if (counts[word]! > 0)
            score += termScore(weights[word]!, counts[word]!, counts.at(-1)!, corpus)
        return { seq, score, hasAll: chosen.every((word) => counts[word]! > 0) }
      })
      const best = (those: typeof scored) => {
        const sorted = those.toSorted((a, b) => b.score - a.score || a.seq - b.seq)
        const floor = sorted[wanted - 1]?.score ?? 0
        return sorted
          .filter(({ score }) => score >= floor)
          .map(({ seq, score }) => [seq, score])
      }
      reader.begin()
      const inOrderOfScores = (found: Scored) =>
        inOrder(found).sort(([, a], [, b]) => b - a)
      assert.deepEqual(
        inOrderOfScores(reader.scoreWithAll(terms, { wanted }, noBudget)),
        best(scored.filter(({ hasAll }) => hasAll)),
      )
      assert.deepEqual(
        inOrderOfScores(reader.scoreWithSome(terms, { wanted }, noBudget)),
        best(scored.filter(({ score, hasAll }) => score > 0 && !hasAll)),
      )
    }
  })
})

function taken(list: Float64Array | Uint32Array, size: number): number[] {
  return Array.from(list.subarray(0, size))
}

function rowsOf({ places, counts, size }: Postings): number[][] {
  return Array.from({ length: size }, (_, i) => [places[i]!, counts[i]!])
}

function inOrder({ seqs, scores }: Scored): (readonly [number, number])[] {
  const found = Array.from(seqs, (seq, i) => [seq, scores[i]!] as const)
  return found.sort(([a], [b]) => a - b)
}
