/** Templates of fields, proposals of fields, and documents with a text to search by. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAsWritten } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { guessTextField, textFieldsOf } from '../../src/searchable/guess-field.ts'
import {
  lexicalTextOf,
  lexicalTextSizeMax,
  searchFieldOf,
  textSearchesOf,
  withSearchText,
} from '../../src/searchable/search-text.ts'
import { parseTemplate, renderTemplate } from '../../src/searchable/text-template.ts'

function documentOf(value: unknown): JsonObject {
  return parseAsWritten(JSON.stringify(value)) as JsonObject
}

function render(template: string, value: unknown): string {
  const print = (number: object) => (number as { decimal?: string }).decimal
  return renderTemplate(parseTemplate(template), documentOf(value), print)
}

describe('the text of a template', () => {
  const document = {
    title: ' Dune ',
    text: 'Sand.',
    none: null,
    year: 1965,
    tags: ['space', 7, null, ['deep'], { a: 'b' }],
    at: { $date: 5 },
    address: { city: 'Rome', lines: [{ text: 'Via Appia' }] },
    'a.b': 'dotted',
  }
  for (const [template, text] of [
    ['title', 'Dune'],
    ['{{title}}. {{text}}', 'Dune. Sand.'],
    ['{{ title }} ({{year}})', 'Dune (1965)'],
    ['{{missing}}. {{text}}', 'Sand.'],
    ['{{title}}. {{none}}', 'Dune'],
    ['{{title}}, {{missing}}; {{text}}', 'Dune; Sand.'],
    ['Title: {{title}}!', 'Title: Dune!'],
    ['Title: {{missing}}!', ''],
    ['tags', 'space, 7'],
    ['at', ''],
    ['address', ''],
    ['address.city', 'Rome'],
    ['address.lines.0.text', 'Via Appia'],
    ['a&.b', 'dotted'],
    ['a.b', ''],
  ] as const)
    test(`${template} is ${JSON.stringify(text)}`, () => {
      assert.equal(render(template, document), text)
    })

  test('has all digits of a number', () => {
    const long = parseAsWritten('{"n":12345678901234567890.5}') as JsonObject
    const print = (number: object) => (number as { decimal?: string }).decimal
    assert.equal(renderTemplate(parseTemplate('n'), long, print), '12345678901234567890.5')
  })

  for (const [template, says] of [
    ['', /Name a field/],
    ['{{title', /no closing \}\}/],
    ['{{title}} {{text', /no closing \}\}/],
    ['{{}}', /names an empty field/],
    ['a..b', /names an empty field/],
    ['$vectorize', /\$vectorize is not a text field/],
    ['_id', /_id is not a text field/],
  ] as const)
    test(`is rejected for ${JSON.stringify(template)}`, () => {
      assert.throws(() => parseTemplate(template), says)
    })
})

describe('the proposed field', () => {
  const documents = Array.from({ length: 10 }, (_, i) => ({
    _id: `id with words ${i}`,
    $vectorize: 'a text that is there already',
    sku: `A-${i}`,
    url: 'https://example.com/a/very/long/address/of/a/page/of/a/book',
    title: `Book ${i}`,
    description: `A story about the number ${i} and its friends`,
    rare:
      i === 0 ? 'One very long text that only a single document has, with many words' : 1,
    meta: { note: 'short words' },
  }))

  test('is the one with the longest texts of several words', () => {
    const sample = documents.map(documentOf)
    assert.equal(guessTextField(sample), 'description')
    const names = textFieldsOf(sample).map(({ name }) => name)
    assert.deepEqual(names.toSorted(), [
      'description',
      'meta.note',
      'rare',
      'sku',
      'title',
      'url',
    ])
  })

  test('can be nested, and has dots of names escaped', () => {
    assert.equal(guessTextField([documentOf({ a: { 'b.c': 'two words' } })]), 'a.b&.c')
  })

  test('is none if no field has texts of several words', () => {
    assert.equal(guessTextField([documentOf({ sku: 'A-1', n: 1 })]), undefined)
    assert.equal(guessTextField([]), undefined)
  })
})

describe('a document with a text to search by', () => {
  const both = { vectors: true, words: true }
  const complete = (document: unknown, text: string, searches = both) =>
    JSON.parse(
      printJson(withSearchText(documentOf(document), text, searches) as Value),
    ) as unknown

  test('gets the search field that the collection has', () => {
    for (const [options, field] of [
      [{ vector: { service: {} }, lexical: { enabled: true } }, '$hybrid'],
      [{ vector: { service: {} }, lexical: { enabled: false } }, '$vectorize'],
      [{ vector: {}, lexical: { enabled: true } }, '$lexical'],
      [{}, undefined],
    ] as const) {
      const searches = textSearchesOf(options)
      assert.equal(searchFieldOf(searches), field)
      const expected = field === undefined ? { a: 1 } : { a: 1, [field]: 'text' }
      assert.deepEqual(complete({ a: 1 }, 'text', searches), expected)
    }
  })

  test('keeps the search fields that it has', () => {
    for (const [before, after] of [
      [{ $hybrid: 'x' }, { $hybrid: 'x' }],
      [{ $vectorize: 'x' }, { $vectorize: 'x', $lexical: 'text' }],
      [{ $vector: [1] }, { $vector: [1], $lexical: 'text' }],
      [{ $lexical: 'x' }, { $lexical: 'x', $vectorize: 'text' }],
      [
        { $lexical: null, $vector: null },
        { $lexical: null, $vector: null },
      ],
    ])
      assert.deepEqual(complete(before, 'text'), after)
  })

  test('is unchanged without a text', () => {
    assert.deepEqual(complete({ a: 1 }, ''), { a: 1 })
  })

  test('has a long text whole for its vector, and up to the limit for words', () => {
    const text = 'wörter '.repeat(2_000).trim()
    const { $hybrid } = complete({}, text) as { $hybrid: Record<string, string> }
    assert.equal($hybrid['$vectorize'], text)
    const lexical = $hybrid['$lexical']!
    assert(Buffer.byteLength(lexical) <= lexicalTextSizeMax)
    assert(Buffer.byteLength(lexical) > lexicalTextSizeMax - 10)
    assert.match(lexical, /wörter$/)
  })

  test('is cut between characters if a text has no spaces', () => {
    const start = lexicalTextOf('😀'.repeat(3_000))
    assert.equal(start, '😀'.repeat(lexicalTextSizeMax / 4))
  })
})
