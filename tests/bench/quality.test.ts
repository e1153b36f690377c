/** Quality of searches: the measures by hand, and floors on the small set of the benchmark. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { RerankerAnswer, RerankerQuestion } from '../../bench/baselines/reranker.ts'
import { Baseline, Stela } from '../../bench/processes.ts'
import * as formats from '../../bench/quality/formats.ts'
import { measureQuality, ndcgOf, recallOf } from '../../bench/quality/metrics.ts'
import {
  evaluate,
  loadSet,
  qualityOptions,
  wayNames,
  ways,
  type WayName,
} from '../../bench/quality/searches.ts'
import { readOwnSet, sampleOf } from '../../bench/quality/sets.ts'

describe('measures of quality', () => {
  const judged = new Map([
    ['a', 2],
    ['b', 1],
    ['c', 0],
  ])

  test('nDCG compares the discounted gains with those of the best order', () => {
    assert.equal(ndcgOf(['a', 'b', 'c'], judged), 1)
    assert.equal(ndcgOf(['c', 'x'], judged), 0)
    const best = 2 + 1 / Math.log2(3)
    assert.equal(ndcgOf(['b', 'a'], judged), (1 + 2 / Math.log2(3)) / best)
  })

  test('nDCG reads ten results', () => {
    const others = Array.from({ length: 10 }, (_, i) => `x${i}`)
    assert.equal(ndcgOf([...others, 'a'], judged), 0)
  })

  test('recall is the share of the relevant documents among the results', () => {
    assert.equal(recallOf(['b', 'c', 'x'], judged), 0.5)
  })

  test('all measures are means over the queries', () => {
    const { ndcg, recall, empty } = measureQuality([['a', 'b'], []], [judged, judged])
    assert.deepEqual({ ndcg, recall, empty }, { ndcg: 0.5, recall: 0.5, empty: 0.5 })
  })
})

describe('formats of test collections', () => {
  test('a SMART file has sections of texts by letter', () => {
    const file = '.I 1\n.T\nwings\r\n.W\nlift of\nwings .\n.I 2\n.W\ndrag\n'
    assert.deepEqual(formats.parseSmart(file), [
      new Map([
        ['I', '1'],
        ['T', 'wings'],
        ['W', 'lift of wings .'],
      ]),
      new Map([
        ['I', '2'],
        ['W', 'drag'],
      ]),
    ])
  })

  test('a CSV file has quoted fields with quotes and lines', () => {
    const file = 'id,text\n1,"a ""b""\nc, d"\n2,e\n'
    assert.deepEqual(formats.parseCsv(file), [
      ['1', 'a "b"\nc, d'],
      ['2', 'e'],
    ])
  })

  test('a printed array has strings in both kinds of quotes', () => {
    assert.deepEqual(formats.parsePrintedStrings(`['a \\'b\\''\n "c's"]`), [`a 'b'`, `c's`])
  })

  test('TREC files have documents, topics and judgements', () => {
    assert.deepEqual(
      formats.parseTrecDocuments('<DOC>\n<DOCNO>7</DOCNO>\nred\nfox\n</DOC>\n'),
      [{ id: '7', text: 'red fox' }],
    )
    assert.deepEqual(
      formats.parseTrecTopics('<top><num>1</num><title>\nFOX DENS\n</title></top>'),
      [{ id: '1', text: 'fox dens' }],
    )
    assert.deepEqual(formats.parseTrecJudgements('1 0 7 2 \n'), [
      { query: '1', document: '7', grade: 2 },
    ])
  })
})

describe('the own set', () => {
  const set = readOwnSet()

  test('judges only documents that it has', () => {
    const ids = new Set(set.documents.map(({ id }) => id))
    for (const { text, judgements } of set.queries) {
      assert(judgements.size > 0, text)
      for (const id of judgements.keys()) assert(ids.has(id), id)
    }
  })

  test('has samples whose queries have relevant documents', () => {
    const { documents, queries } = sampleOf(set, 20)
    assert(documents.length < set.documents.length)
    const ids = new Set(documents.map(({ id }) => id))
    for (const { judgements } of queries)
      for (const id of judgements.keys()) assert(ids.has(id), id)
    assert.deepEqual(sampleOf(set, Infinity), set)
  })

  /** Least nDCG@10, about 0.02 below what was measured. */
  const floors: Readonly<Record<WayName, number>> = {
    standard: 0.62,
    english: 0.62,
    vector: 0.92,
    hybrid: 0.8,
    reranked: 0.92,
  }

  test('is searched at least as well as before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stela-quality-'))
    const reranker = new Baseline<RerankerQuestion, RerankerAnswer>(
      new URL('../../bench/baselines/reranker.ts', import.meta.url),
    )
    const { port } = await reranker.ask({ ask: 'port' })
    const server = await Stela.start(folder, qualityOptions(port))
    try {
      await loadSet(server.port, set, () => undefined)
      for (const name of wayNames) {
        const { ndcg } = await evaluate(server.port, set, ways[name])
        assert(ndcg >= floors[name], `${ways[name].says}: nDCG@10 is ${ndcg}`)
      }
    } finally {
      await server.stop()
      await reranker.stop()
      await rm(folder, { recursive: true })
    }
  })
})
