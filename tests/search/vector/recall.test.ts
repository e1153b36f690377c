import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { centerOf, type CodeBits } from '../../../src/search/vector/code-width.ts'
import { Segment } from '../../../src/search/vector/segment.ts'
import { similarityTo, type Metric } from '../../../src/search/vector/similarity.ts'
import { nearest, randomFrom, recall, vectorsFrom } from './vectors.ts'

const seed = Number(process.env['SEED'] ?? 20_261_115)
const floor = 0.95
/** Number of candidates that a search for ten results collects by default. */
const breadth = 128

interface Kind {
  readonly bits?: CodeBits
  /** Lengths of vectors are from 1 to 1 + `lengths`. */
  readonly lengths?: number
  /** Length of a vector that is added to every vector. */
  readonly away?: number
}

/** A segment, and the vectors that it must contain. */
class Subject {
  readonly vectors = new Map<number, Float32Array>()
  readonly segment: Segment
  readonly metric: Metric
  readonly #make: () => Float32Array
  #next = 1

  constructor(
    dimension: number,
    metric: Metric,
    { bits = 8, lengths = 0, away = 0 }: Kind = {},
  ) {
    this.metric = metric
    const make = vectorsFrom(seed, dimension, { lengths })
    const common = vectorsFrom(seed + 3, dimension)()
    this.#make = () => make().map((number, i) => number + away * common[i]!)
    const sample = Array.from({ length: 200 }, this.#make)
    this.segment = Segment.create(
      { dimension, metric, bits, capacity: 100_000, breadth: 128, threads: 1 },
      bits === 8 ? undefined : centerOf(sample, metric, dimension),
    )
  }

  add(count: number): void {
    for (let i = 0; i < count; i++) this.addOne(this.#make())
  }

  addOne(vector: Float32Array): void {
    assert(this.segment.add(this.#next, vector))
    this.vectors.set(this.#next++, vector)
  }

  /** Removes a document, adds a new one, and returns the number of the new document. */
  exchange(document: number): number {
    this.remove(document)
    this.add(1)
    return this.#next - 1
  }

  remove(document: number): void {
    assert(this.segment.remove(document))
    this.vectors.delete(document)
  }

  link(): void {
    while (this.segment.linkNext());
  }

  /** Recall among the ten nearest documents, over `queries` random searches. */
  recall(matches?: (document: number) => boolean, queries = 40): number {
    const { segment, metric, vectors } = this
    const asked = Array.from({ length: queries }, this.#make)
    const found = asked.map((query) => {
      segment.forget()
      const found = segment.search(query, breadth, matches)
      const scoreOf = similarityTo(metric, query)
      return documentsIn(found)
        .sort((a, b) => scoreOf(vectors.get(b)!) - scoreOf(vectors.get(a)!))
        .slice(0, 10)
    })
    for (const documents of found)
      assert.equal(new Set(documents).size, documents.length, 'found twice')
    return recall(
      asked.map((query) => nearest(metric, query, vectors, 10, matches)),
      found,
    )
  }
}

/** The documents of search results. Results alternate between a document and its distance. */
function documentsIn(found: Float64Array): number[] {
  return [...found].filter((_, i) => i % 2 === 0)
}

const metrics = ['cosine', 'dot_product', 'euclidean'] as const

describe(`the graph finds at least ${floor} of the ten nearest vectors (seed ${seed})`, () => {
  for (const metric of metrics)
    for (const [dimension, count] of [
      [8, 5000],
      [100, 3000],
      [768, 1500],
      [1536, 1000],
    ] as const)
      test(`among ${count} vectors of ${dimension} dimensions, by ${metric}`, () => {
        const subject = new Subject(dimension, metric, {
          lengths: metric === 'cosine' ? 0 : 0.5,
        })
        subject.add(count)
        subject.link()
        assert.equal(subject.segment.pendingCount, 0)
        const whole = subject.recall()
        assert(whole >= floor, `recall ${whole}`)
        for (const share of [2, 10, 100, 1000]) {
          const filtered = subject.recall((document) => document % share === 0)
          assert(filtered >= floor, `recall ${filtered} where 1 in ${share} match`)
        }
        assert.equal(
          subject.recall(() => false),
          1,
          'finds nothing where nothing matches',
        )
      })
})

describe(`short codes find at least ${floor} of the ten nearest vectors (seed ${seed})`, () => {
  for (const metric of metrics)
    for (const [bits, dimension, count, away] of [
      [4, 32, 3000, 0],
      [4, 100, 2000, 3],
      [2, 128, 3000, 0],
      [2, 384, 1500, 3],
      [1, 512, 1500, 0],
      [1, 768, 1500, 3],
    ] as const)
      test(`with ${bits} bits, among ${count} vectors of ${dimension} dimensions around ${away}, by ${metric}`, () => {
        const lengths = metric === 'cosine' ? 0 : 0.5
        const subject = new Subject(dimension, metric, { bits, lengths, away })
        subject.add(count)
        subject.link()
        const whole = subject.recall()
        assert(whole >= floor, `recall ${whole}`)
        for (const share of [2, 10, 100, 1000]) {
          const filtered = subject.recall((document) => document % share === 0)
          assert(filtered >= floor, `recall ${filtered} where 1 in ${share} match`)
        }
      })
})

describe('the graph after three replacements of half of its vectors', () => {
  for (const metric of metrics)
    for (const [bits, dimension] of [
      [8, 16],
      [8, 256],
      [4, 64],
      [1, 512],
    ] as const)
      test(`still has a recall of at least ${floor}: ${bits} bits, ${dimension} dimensions, by ${metric}`, () => {
        const random = randomFrom(seed + 1)
        const subject = new Subject(dimension, metric, { bits })
        subject.add(3000)
        subject.link()
        const documents = [...subject.vectors.keys()]
        for (let round = 0; round < 3; round++) {
          for (let i = 0; i < 1500; i++) {
            const place = Math.floor(random() * documents.length)
            documents[place] = subject.exchange(documents[place]!)
            if (i % 100 === 0) subject.link()
            if (subject.segment.deletedCount > 300) while (subject.segment.repair(500));
          }
          subject.link()
          assert.equal(subject.segment.liveCount, 3000)
          const after = subject.recall()
          assert(after >= floor, `recall ${after} after round ${round + 1}`)
        }
        while (subject.segment.repair(500));
        assert.equal(subject.segment.deletedCount, 0)
        // The size shows that slots of removed vectors were reused.
        assert(subject.segment.size < 4500 * (dimension + 300))
      })
})

describe('vectors shared by many documents', () => {
  for (const metric of metrics)
    for (const copies of [70, 400])
      test(`are found together with all other vectors: ${copies} copies, by ${metric}`, () => {
        const subject = new Subject(16, metric)
        const same = vectorsFrom(seed + 9, 16)()
        const addCopies = (count: number): void => {
          for (let i = 0; i < count; i++) subject.addOne(same)
        }
        addCopies(copies / 2)
        subject.add(3000)
        addCopies(copies / 2)
        subject.link()
        const copiesFound = (): number =>
          documentsIn(subject.segment.search(same, 1000)).filter(
            (document) => subject.vectors.get(document) === same,
          ).length
        assert.equal(copiesFound(), copies)
        const before = subject.recall()
        assert(before >= floor, `recall ${before}`)
        // Removes half of the documents, and adds other documents.
        const documents = [...subject.vectors.keys()]
        for (const document of documents.filter((n) => n % 2 === 0))
          subject.remove(document)
        subject.add(1500)
        subject.link()
        while (subject.segment.repair(500));
        const left = [...subject.vectors.values()].filter((v) => v === same).length
        assert(copiesFound() >= left * floor, `${copiesFound()} of ${left} copies`)
        const after = subject.recall()
        assert(after >= floor, `recall ${after} after half was exchanged`)
      })
})

describe('a segment', () => {
  const make = vectorsFrom(seed, 24)

  function segmentOf(capacity: number, bits: CodeBits = 8): Segment {
    const shape = { dimension: 24, metric: 'euclidean', breadth: 128, threads: 2 } as const
    return Segment.create({ ...shape, bits, capacity }, bits === 8 ? undefined : make())
  }

  test('finds vectors before, during and after linking', () => {
    const segment = segmentOf(1000)
    const vectors = Array.from({ length: 200 }, make)
    vectors.forEach((vector, i) => segment.add(i + 1, vector))
    const findAll = () => vectors.map((vector) => segment.search(vector, 64)[0])
    const everyone = vectors.map((_, i) => i + 1)
    assert.deepEqual(findAll(), everyone)
    for (let i = 0; i < 100; i++) segment.linkNext()
    assert.deepEqual(findAll(), everyone)
    while (segment.linkNext());
    assert.deepEqual(findAll(), everyone)
  })

  test('reports when it is full, and has room again after a removal', () => {
    const segment = segmentOf(10)
    for (let i = 1; i <= 10; i++) assert(segment.add(i, make()))
    assert(!segment.add(11, make()))
    while (segment.linkNext());
    segment.remove(3)
    while (segment.repair(100));
    assert(segment.add(11, make()))
    assert.deepEqual(
      [segment.has(3), segment.has(11), segment.liveCount],
      [false, true, 10],
    )
  })

  test('is empty after all vectors were removed, and can be filled again', () => {
    const segment = segmentOf(100)
    for (let round = 0; round < 3; round++) {
      for (let i = 1; i <= 50; i++) segment.add(i, make())
      while (segment.linkNext());
      for (let i = 1; i <= 50; i++) assert(segment.remove(i))
      assert.deepEqual([...segment.search(make(), 64)], [])
      while (segment.repair(100));
    }
    const vector = make()
    segment.add(7, vector)
    while (segment.linkNext());
    assert.deepEqual(documentsIn(segment.search(vector, 64)), [7])
  })

  test('links vectors added after everything else was deleted', () => {
    const segment = segmentOf(100)
    for (let i = 1; i <= 20; i++) segment.add(i, make())
    while (segment.linkNext());
    for (let i = 1; i <= 20; i++) segment.remove(i)
    for (let i = 21; i <= 40; i++) segment.add(i, make())
    while (segment.linkNext());
    assert.equal(documentsIn(segment.search(make(), 64)).length, 20)
    while (segment.repair(100));
    assert.equal(documentsIn(segment.search(make(), 64)).length, 20)
  })

  test('accepts any whole number as a document number, and removes only the given document', () => {
    const segment = segmentOf(2000)
    const random = randomFrom(seed)
    const held = new Map<number, Float32Array>()
    for (let i = 0; i < 4000; i++) {
      // Some numbers collide in the hash table, and others are far apart.
      const document = Math.floor(random() * 40) * 4096 + Math.floor(random() * 20) + 1
      if (held.delete(document)) assert(segment.remove(document))
      else {
        const vector = make()
        held.set(document, vector)
        assert(segment.add(document, vector))
      }
      if (i % 50 === 0) while (segment.linkNext() || segment.repair(200));
      assert.equal(segment.has(document), held.has(document))
    }
    assert.equal(segment.liveCount, held.size)
    for (const [document, vector] of held)
      assert.equal(segment.scan(vector, 1, Float64Array.of(document))[0], document)
  })

  for (const bits of [4, 8] as const)
    test(`with codes of ${bits} bits is restored unchanged from its parts, whether its vectors are linked, pending or deleted`, () => {
      const segment = segmentOf(1000, bits)
      const vectors = new Map<number, Float32Array>()
      for (let i = 1; i <= 300; i++) {
        vectors.set(i, make())
        segment.add(i, vectors.get(i)!)
      }
      for (let i = 0; i < 200; i++) segment.linkNext()
      for (const document of [5, 50, 250, 299]) {
        segment.remove(document)
        vectors.delete(document)
      }
      const parts = segment.freeze().map((part) => part.slice())
      // Later changes neither become part of the copy nor affect it.
      segment.add(1001, make())
      segment.remove(7)
      segment.thaw()
      let next = 0
      const restored = Segment.restore(segment.shape, (part) => part.set(parts[next++]!))
      assert(restored !== undefined)
      assert.equal(restored.liveCount, vectors.size)
      const findAll = () => [...vectors].map(([, vector]) => restored.search(vector, 64)[0])
      assert.deepEqual(findAll(), [...vectors.keys()])
      while (restored.linkNext() || restored.repair(100));
      assert.deepEqual(findAll(), [...vectors.keys()])
      assert.equal(restored.deletedCount, 0)
    })

  test('rejects inconsistent parts', () => {
    const segment = segmentOf(100)
    for (let i = 1; i <= 5; i++) segment.add(i, make())
    const [header, center, upper, nodes] = segment.freeze().map((part) => part.slice())
    // Copies the first node over the second one. One document then has two nodes, which is
    // inconsistent.
    const size = nodes!.length / 5
    nodes!.copyWithin(size, 0, size)
    const parts = [header!, center!, upper!, nodes!]
    let next = 0
    assert.equal(
      Segment.restore(segment.shape, (part) => part.set(parts[next++]!)),
      undefined,
    )
  })
})
