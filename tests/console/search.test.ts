/** Parts of the Search and Map pages, without a browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noTable, type Place } from '../../src/console/api/place.ts'
import { parseJson } from '../../src/console/json/parse-json.ts'
import { printJson } from '../../src/console/json/print-json.ts'
import type { JsonObject } from '../../src/console/json/value.ts'
import { truncateVectors } from '../../src/console/map/cut-vectors.ts'
import {
  categoryColors,
  colorBy,
  colorFields,
  otherColor,
  rampColors,
} from '../../src/console/map/map-colors.ts'
import {
  fitView,
  panBy,
  pointAt,
  pointsInside,
  screenX,
  screenY,
  zoomAt,
} from '../../src/console/map/map-view.ts'
import {
  selectionFilter,
  type SelectionFilter,
} from '../../src/console/map/selection-filter.ts'
import { sampleDocuments, wordVector } from '../../src/console/samples/sample-documents.ts'
import {
  countMatches,
  excerptOf,
  markWords,
  stem,
  stemsOf,
} from '../../src/console/search/matched-words.ts'
import { explainHybrid, ordinal, textOf } from '../../src/console/search/search-results.ts'
import { searchCommand, searchModesOf } from '../../src/console/search/search-ways.ts'

const collection: Place = {
  database: '',
  keyspace: 'default_keyspace',
  name: 'places',
  kind: 'collection',
  options: {
    vector: {
      dimension: 3,
      metric: 'cosine',
      service: { provider: 'local', modelName: 'x' },
    },
    lexical: { enabled: true },
    rerank: { enabled: true },
  },
  table: noTable,
}

function documentOf(text: string): JsonObject {
  return parseJson(text) as JsonObject
}

describe('matched words', () => {
  test('are found by their stems', () => {
    for (const [one, other] of [
      ['reading', 'reads'],
      ['boats', 'boat'],
      ['stories', 'story'],
      ['boxes', 'box'],
      ['Running', 'run'],
      ['baked', 'bake'],
      ['Glass', 'glass'],
    ] as const)
      assert.equal(stem(one), stem(other), one)
    assert.notEqual(stem('sea'), stem('seal'))
  })

  test('are marked without loss of text', () => {
    const text = '<b>Boats</b>, a boat & "boating"; sailboat'
    const pieces = markWords(text, stemsOf('BOAT b'))
    assert.equal(pieces.map((piece) => piece.text).join(''), text)
    assert.deepEqual(
      pieces.filter(({ isMatch }) => isMatch).map((piece) => piece.text),
      ['b', 'Boats', 'b', 'boat', 'boating'],
    )
    assert.equal(countMatches('café cafés 東京', stemsOf('cafés 東京')), 3)
    assert.deepEqual(markWords('plain', stemsOf('')), [{ text: 'plain', isMatch: false }])
  })

  test('are in the excerpt of a long text', () => {
    const long = `${'word '.repeat(5000)}needle ${'tail '.repeat(500)}`
    const excerpt = excerptOf(long, stemsOf('needles'))
    assert.match(excerpt, /^….*needle.*…$/)
    assert(excerpt.length < 300)
    assert(excerptOf('x'.repeat(10_000), stemsOf('y')).length < 300)
  })
})

describe('search modes', () => {
  const input = { text: 'quiet', vector: undefined, filter: undefined, limit: 5 }

  test('are all available, or state what is missing', () => {
    assert.deepEqual(
      searchModesOf(collection, []).map(({ lacks }) => lacks),
      [undefined, undefined, undefined, undefined],
    )
    const bare = searchModesOf({ ...collection, options: {} }, [])
    for (const { lacks } of bare) assert.match(lacks!, /no |not /)
    const table: Place = {
      ...collection,
      kind: 'table',
      options: {},
      table: { ...noTable, columns: new Map([['near', { type: 'vector', dimension: 2 }]]) },
    }
    const ways = searchModesOf(table, [
      { indexType: 'vector', definition: { column: 'near' } },
      { indexType: 'text', definition: { column: 'says' } },
      { indexType: 'regular', definition: { column: { tags: '$keys' } } },
    ])
    assert.deepEqual(
      ways.filter(({ lacks }) => lacks === undefined).map(({ field }) => field),
      ['near', 'says'],
    )
  })

  test('produce a command when the form has the input that they need', () => {
    const [meaning, vector, words, hybrid] = searchModesOf(collection, [])
    assert.deepEqual(searchCommand(collection, meaning!, input)?.fields['sort'], {
      $vectorize: 'quiet',
    })
    assert.equal(searchCommand(collection, vector!, input), undefined)
    assert.deepEqual(searchCommand(collection, words!, input)?.fields['sort'], {
      $lexical: 'quiet',
    })
    assert.equal(searchCommand(collection, hybrid!, input)?.name, 'findAndRerank')
    assert.equal(searchCommand(collection, hybrid!, { ...input, text: ' ' }), undefined)
    const own: Place = {
      ...collection,
      options: { ...collection.options, vector: { dimension: 2, metric: 'cosine' } },
    }
    assert.equal(searchCommand(own, hybrid!, input), undefined)
    const given = { ...input, vector: parseJson('[1, 2]') }
    assert.match(
      printJson(searchCommand(own, hybrid!, given)!.fields),
      /"\$vector":\[1,2\].*"rerankOn":"\$lexical"/,
    )
  })

  test('explain the scores of a result in words', () => {
    const scores = { rerank: 0.5, vector: 0.8, vectorRank: 2, wordRank: null, rrf: 0.01 }
    assert.equal(
      explainHybrid(scores, 1),
      '2nd by meaning, not found by words. Ranked 1st by the reranker, with score 0.50.',
    )
    assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal), [
      '1st',
      '2nd',
      '3rd',
      '4th',
      '11th',
      '12th',
      '13th',
      '21st',
      '102nd',
      '111th',
    ])
    assert.equal(textOf(documentOf('{"a": "short", "b": "longer text"}')), 'longer text')
  })
})

describe('a map', () => {
  const positions = Float32Array.of(-1, -1, 1, -1, 1, 1, -1, 1, 0, 0)
  const size = { width: 400, height: 300 }

  test('shows all points, and keeps the point under the pointer when it zooms', () => {
    const view = fitView(positions, size)
    for (let at = 0; at < positions.length; at += 2) {
      const [x, y] = [screenX(view, positions[at]!), screenY(view, positions[at + 1]!)]
      assert(x >= 0 && x <= 400 && y >= 0 && y <= 300)
    }
    const zoomed = zoomAt(view, 3, 100, 50)
    const [mapX, mapY] = [(100 - view.left) / view.scale, (view.top - 50) / view.scale]
    assert(Math.abs(screenX(zoomed, mapX) - 100) < 1e-9)
    assert(Math.abs(screenY(zoomed, mapY) - 50) < 1e-9)
    assert.equal(screenX(panBy(view, 7, 0), 0), screenX(view, 0) + 7)
    for (const few of [
      new Float32Array(),
      Float32Array.of(5, 5),
      Float32Array.of(1, 2, 1, 9),
    ])
      assert(Object.values(fitView(few, size)).every(Number.isFinite))
  })

  test('finds points near a position and within a lasso', () => {
    const view = fitView(positions, size)
    assert.equal(pointAt(positions, view, 201, screenY(view, 0) + 1, 10), 4)
    assert.equal(pointAt(positions, view, 201, 80, 10), undefined)
    const upper = [
      { x: 0, y: 0 },
      { x: 400, y: 0 },
      { x: 400, y: 140 },
      { x: 0, y: 140 },
    ]
    assert.deepEqual(pointsInside(positions, view, upper), [2, 3])
    assert.deepEqual(pointsInside(positions, view, []), [])
  })

  test('has colours for groups and for ranges', () => {
    const documents = Array.from({ length: 60 }, (_, at) =>
      documentOf(
        `{"_id": ${at}, "kind": "${at % 3}", "n": ${at}, "deep": {"a.b": ${at % 2 === 0}}, "tags": []}`,
      ),
    )
    assert.deepEqual(colorFields(documents), ['_id', 'deep.a&.b', 'kind', 'n'])
    const kinds = colorBy(documents, 'kind')
    assert.deepEqual(
      kinds.legend.map(({ label, count }) => [label, count]),
      [
        ['0', 20],
        ['1', 20],
        ['2', 20],
      ],
    )
    assert.equal(colorBy(documents, 'deep.a&.b').legend.length, 2)
    const range = colorBy(documents, 'n')
    assert.equal(range.kind, 'ramp')
    assert.equal(range.entries[0], 0)
    assert.equal(range.entries[59], rampColors.length - 1)
    const many = documents.map((_, at) => documentOf(`{"_id": ${at}, "name": "n${at}"}`))
    assert.equal(colorBy(many, 'name').legend.at(-1)!.label, 'others')
    assert.equal(colorBy(many, 'gone').legend[0]!.count, 60)
  })

  test('has colours with enough contrast in both themes', () => {
    for (const color of [...categoryColors, ...rampColors, otherColor])
      for (const surface of ['#ffffff', '#1b2023'])
        assert(contrast(color, surface) >= 3, `${color} on ${surface}`)
  })

  test('converts a selection to a filter, or to ids when a filter cannot list them', () => {
    const documents = Array.from({ length: 6_401 }, (_, at) =>
      documentOf(`{"_id": ${at}, "a": ${at}, "b": "x"}`),
    )
    const few = selectionFilter(collection, documents.slice(0, 2))
    assert('filter' in few)
    assert.equal(printJson(few.filter), '{"_id":{"$in":[0,1]}}')
    const many = selectionFilter(collection, documents.slice(0, 101))
    assert('ids' in many)
    assert.equal(printJson([...many.ids]).length, printJson(upTo(101)).length)
    const keyed = (...partitionBy: string[]): Place => ({
      ...collection,
      kind: 'table',
      table: { ...noTable, partitionBy },
    })
    const rows = selectionFilter(keyed('a'), documents.slice(0, 101))
    assert('filter' in rows)
    assert.equal(
      printJson(rows.filter),
      `{"$or":[{"a":{"$in":${printJson(upTo(100))}}},{"a":{"$in":[100]}}]}`,
    )
    assert('filter' in selectionFilter(keyed('a'), documents.slice(0, 6_400)))
    assert.match(lacking(selectionFilter(keyed('a'), documents)), /at most 6400 rows/)
    const two = selectionFilter(keyed('a', 'b'), documents.slice(0, 2))
    assert('filter' in two)
    assert.equal(printJson(two.filter), '{"$or":[{"a":0,"b":"x"},{"a":1,"b":"x"}]}')
    assert.match(
      lacking(selectionFilter(keyed('a', 'b'), documents.slice(0, 33))),
      /at most 32 rows/,
    )
  })

  test('extracts only the vectors from a reply', () => {
    const received =
      '{"data":{"documents":[{"_id":12345678901234567890,"$vector":[0.5,-1e-3]},{"t":"\\"$vector\\":[1]"},{"$vector":null},{"$vector":[1,2]},{"$vector":{"$binary":"P0D/vT8oMEY="},"n":1}]}}'
    const { text, vectors } = truncateVectors(received, '$vector')
    // The third vector is in the form of the official clients.
    assert.deepEqual(vectors, [
      Float32Array.of(0.5, -1e-3),
      Float32Array.of(1, 2),
      Float32Array.of(Math.cos(7), Math.sin(7)),
    ])
    assert.equal(
      text,
      '{"data":{"documents":[{"_id":12345678901234567890,"$vector":0},{"t":"\\"$vector\\":[1]"},{"$vector":null},{"$vector":1},{"$vector":2,"n":1}]}}',
    )
  })
})

describe('sample data', () => {
  test('has two hundred distinct documents', () => {
    const ids = new Set(sampleDocuments.map(({ fields }) => fields['_id']))
    const texts = new Set(sampleDocuments.map(({ text }) => text))
    assert.equal(ids.size, 200)
    assert.equal(texts.size, 200)
  })

  test('has vectors that are close when their texts have common words', () => {
    const near = (a: string, b: string) => {
      const [left, right] = [wordVector(a), wordVector(b)]
      return left.reduce((sum, value, at) => sum + value * right[at]!, 0)
    }
    const unrelated = [
      'chess club',
      'a jazz band plays',
      'oysters with lemon',
      'old trains',
    ]
    const garden = 'a garden of roses'
    const others = unrelated.map((text) => Math.abs(near(garden, text)))
    const mean = others.reduce((sum, value) => sum + value, 0) / others.length
    assert(near(garden, 'roses in gardens') > 3 * mean)
    assert(wordVector('').some((value) => value !== 0))
  })
})

/** Contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}

function lacking(made: SelectionFilter): string {
  return 'lacks' in made ? made.lacks : ''
}
