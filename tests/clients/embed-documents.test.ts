/** Making existing documents searchable, as the console and `stela embed` do it. */
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { printJson } from '../../src/json/print.ts'
import { isDecimal, isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { memberAt } from '../../src/cli/records/api-client.ts'
import {
  embedDocuments,
  type EmbedFailure,
  type EmbedOptions,
  type EmbedReply,
} from '../../src/searchable/embed-documents.ts'
import type { SearchableOptions } from '../../src/searchable/search-text.ts'
import { parseTemplate } from '../../src/searchable/text-template.ts'
import { Collections, type Target } from '../commands/collections.ts'
import { lettersCollection, LetterModels } from '../commands/letter-models.ts'

const models = await LetterModels.start()
const collections = new Collections({}, { providers: models.settings })

after(() => models.close())
beforeEach(() => models.texts.splice(0))

const hybrid = { ...lettersCollection, lexical: { enabled: true, analyzer: 'standard' } }
const meaningOnly = { ...lettersCollection, lexical: { enabled: false } }

interface Ran {
  readonly counts: Awaited<ReturnType<typeof embedDocuments>>
  readonly failures: readonly EmbedFailure[]
}

async function embed(
  target: Target,
  source: string,
  collection: SearchableOptions,
  more: Partial<EmbedOptions> & { readonly before?: (command: string) => unknown } = {},
): Promise<Ran> {
  const failures: EmbedFailure[] = []
  const counts = await embedDocuments({
    template: parseTemplate(source),
    collection,
    filter: undefined,
    refreshes: false,
    concurrency: 3,
    printNumber: (value) =>
      isDecimal(value as Value) ? (value as { decimal: string }).decimal : undefined,
    async send(command): Promise<EmbedReply> {
      const text = printJson(command as JsonObject)
      await more.before?.(text)
      const { exact, body } = await target.send(text)
      const many = memberAt(exact, 'data', 'documents')
      const one = memberAt(exact, 'data', 'document')
      return {
        documents: (Array.isArray(many) ? many : [one]).filter(isObject),
        nextPageState: body.data?.nextPageState ?? undefined,
        errors: (body.errors ?? []).map(({ errorCode, message }) => ({
          code: errorCode,
          message,
        })),
      }
    },
    onProgress: () => undefined,
    onFailure: (failure) => failures.push(failure),
    signal: new AbortController().signal,
    ...more,
  })
  return { counts, failures }
}

const zero = {
  ...{ seen: 0, embedded: 0, already: 0, textless: 0, removed: 0, failed: 0 },
  shortened: 0,
}

async function fieldsOf(target: Target): Promise<readonly Record<string, unknown>[]> {
  const { data } = await target.run({ find: { projection: { '*': 1 } } })
  return data!.documents!.toSorted(
    (one, other) => Number(one['_id']) - Number(other['_id']),
  )
}

describe('embedding existing documents', () => {
  test('sets the search fields that documents lack, and nothing else', async () => {
    const target = await collections.create(
      [
        { _id: 1, t: 'aa' },
        { _id: 2, t: 'b', $vector: [5, 6] },
        { _id: 3, t: 'b', $vectorize: 'own', $lexical: 'words' },
        { _id: 4, n: 1 },
        { _id: 5, t: null },
        { _id: 6, t: 12 },
      ],
      hybrid,
    )
    const { counts, failures } = await embed(target, 't', hybrid)
    assert.deepEqual(failures, [])
    assert.deepEqual(counts, { ...zero, seen: 6, embedded: 3, already: 1, textless: 2 })
    assert.deepEqual(await fieldsOf(target), [
      { _id: 1, t: 'aa', $vector: [3, 1], $vectorize: 'aa', $lexical: 'aa' },
      { _id: 2, t: 'b', $vector: [5, 6], $lexical: 'b' },
      { _id: 3, t: 'b', $vector: [1, 1], $vectorize: 'own', $lexical: 'words' },
      { _id: 4, n: 1 },
      { _id: 5, t: null },
      { _id: 6, t: 12, $vector: [1, 1], $vectorize: '12', $lexical: '12' },
    ])
    const again = await embed(target, 't', hybrid)
    assert.deepEqual(again.counts, { ...zero, seen: 6, already: 4, textless: 2 })
  })

  test('finds documents with ids of all types, on many pages, by filter', async () => {
    const ids = [
      null,
      true,
      'text',
      { $uuid: '11111111-2222-4333-8444-555555555555' },
      { $date: 5 },
    ]
    const numbered = Array.from({ length: 70 }, (_, i) => i + 0.5)
    const documents = [...ids, ...numbered].map((_id) => ({ _id, t: 'a', in: true }))
    const target = await collections.create(
      [...documents, { _id: 'out', t: 'a' }],
      meaningOnly,
    )
    const filter = new Map([['in', true]])
    const { counts } = await embed(target, 't', meaningOnly, { filter })
    assert.deepEqual(counts, { ...zero, seen: 75, embedded: 75 })
    const { status } = await target.run({
      countDocuments: { filter: { $vector: { $exists: true } } },
    })
    assert.equal(status!['count'], 75)
  })

  test('uses only words in a collection without a model', async () => {
    const options = { lexical: { enabled: true, analyzer: 'standard' } }
    const target = await collections.create([{ _id: 1, t: 'aa' }], options)
    assert.deepEqual((await embed(target, 't', options)).counts, {
      ...zero,
      ...{ seen: 1, embedded: 1 },
    })
    assert.deepEqual(await fieldsOf(target), [{ _id: 1, t: 'aa', $lexical: 'aa' }])
  })

  for (const [says, options] of [
    ['an index', hybrid],
    ['selective indexing', { ...hybrid, indexing: { deny: ['t'] } }],
    ['no index at all', { ...hybrid, indexing: { deny: ['*'] } }],
  ] as const)
    test(`embeds the latest text when another client changes it, with ${says}`, async () => {
      const target = await collections.create(
        [
          { _id: 1, t: 'a', n: 0 },
          { _id: 2, t: 'b' },
        ],
        options,
      )
      let changes = 0
      const { counts } = await embed(target, 't', options, {
        concurrency: 1,
        async before(command) {
          if (!command.startsWith('{"findOneAndUpdate"') || ++changes > 2) return
          const update = { $set: { t: 'ab'.repeat(changes) }, $inc: { n: 1 } }
          await target.run({ updateOne: { filter: { _id: 1 }, update } })
        },
      })
      assert.deepEqual(counts, { ...zero, seen: 2, embedded: 2 })
      const [changed] = await fieldsOf(target)
      assert.deepEqual(changed, {
        ...{ _id: 1, t: 'abab', n: 2, $vector: [3, 3] },
        ...{ $vectorize: 'abab', $lexical: 'abab' },
      })
    })

  test('keeps a vector that another client sets meanwhile, and skips removed documents', async () => {
    const target = await collections.create(
      [
        { _id: 1, t: 'a' },
        { _id: 2, t: 'a' },
      ],
      meaningOnly,
    )
    let isFirst = true
    const { counts } = await embed(target, 't', meaningOnly, {
      concurrency: 1,
      async before(command) {
        if (!command.startsWith('{"findOneAndUpdate"') || !isFirst) return
        isFirst = false
        const update = { $set: { $vector: [7, 8] } }
        await target.run({ updateOne: { filter: { _id: 1 }, update } })
        await target.run({ deleteOne: { filter: { _id: 2 } } })
      },
    })
    assert.deepEqual(counts, { ...zero, seen: 2, already: 1, removed: 1 })
    assert.deepEqual(await fieldsOf(target), [{ _id: 1, t: 'a', $vector: [7, 8] }])
  })

  test('fails a document that other clients change each time, without an endless loop', async () => {
    const target = await collections.create([{ _id: 1, t: 'a' }], meaningOnly)
    let changes = 0
    const { counts, failures } = await embed(target, 't', meaningOnly, {
      async before(command) {
        if (!command.startsWith('{"findOneAndUpdate"')) return
        const update = { $set: { t: `a${++changes}` } }
        await target.run({ updateOne: { filter: { _id: 1 }, update } })
      },
    })
    assert.deepEqual(counts, { ...zero, seen: 1, failed: 1 })
    assert.match(failures[0]!.message, /Other clients changed the document/)
  })

  test('embeds changed documents again only if asked, and never replaces a vector of a client', async () => {
    const target = await collections.create(
      [
        { _id: 1, t: 'new', $hybrid: 'old' },
        { _id: 2, t: 'same', $hybrid: 'same' },
        { _id: 3, t: 'b', $vector: [5, 6], $lexical: 'b' },
        { _id: 4, t: 'aa', $hybrid: '' },
      ],
      hybrid,
    )
    const first = await embed(target, 't', hybrid)
    assert.deepEqual(first.counts, { ...zero, seen: 4, embedded: 1, already: 3 })
    models.texts.splice(0)
    const second = await embed(target, 't', hybrid, { refreshes: true })
    assert.deepEqual(second.counts, { ...zero, seen: 4, embedded: 1, already: 3 })
    assert.deepEqual(models.texts, ['new'])
    const vectors = (await fieldsOf(target)).map(({ $vector, $lexical }) => [
      $vector,
      $lexical,
    ])
    assert.deepEqual(vectors, [
      [[1, 1], 'new'],
      [[2, 1], 'same'],
      [[5, 6], 'b'],
      [[3, 1], 'aa'],
    ])
  })

  test('continues after a stop where it was', async () => {
    const documents = Array.from({ length: 60 }, (_, i) => ({ _id: i, t: `text ${i}` }))
    const target = await collections.create(documents, meaningOnly)
    const controller = new AbortController()
    let updates = 0
    const { counts } = await embed(target, 't', meaningOnly, {
      signal: controller.signal,
      before(command) {
        if (command.startsWith('{"findOneAndUpdate"') && ++updates === 25)
          controller.abort()
      },
    })
    assert(counts.embedded >= 25 && counts.embedded < 60, String(counts.embedded))
    assert.equal(counts.seen, counts.embedded)
    const rest = await embed(target, 't', meaningOnly)
    assert.equal(rest.counts.embedded, 60 - counts.embedded)
    assert.equal(models.texts.length, 60)
  })

  test('searches a text beyond the limit by its start', async () => {
    const long = `${'first '.repeat(1_500)}last`
    const options = { ...hybrid, indexing: { deny: ['t'] } }
    const target = await collections.create([{ _id: 1, t: long }], options)
    const { counts, failures } = await embed(target, 't', options)
    assert.deepEqual(failures, [])
    assert.deepEqual(counts, { ...zero, seen: 1, embedded: 1, shortened: 1 })
    const count = async (word: string) => {
      const { data } = await target.run({ find: { sort: { $lexical: word } } })
      return data!.documents!.length
    }
    assert.deepEqual([await count('first'), await count('last')], [1, 0])
  })

  test('stops when every document fails, or when no other document can succeed', async () => {
    const documents = Array.from({ length: 40 }, (_, i) => ({ _id: i, t: 'a' }))
    const target = await collections.create(documents, meaningOnly)
    const failing = (code: string) =>
      embed(target, 't', meaningOnly, {
        concurrency: 1,
        send: (command) =>
          Promise.resolve({
            documents: command.has('find')
              ? [
                  new Map<string, unknown>([
                    ['_id', 1],
                    ['t', 'a'],
                  ]),
                ]
              : [],
            nextPageState: 'more',
            errors: command.has('find') ? [] : [{ code, message: 'No.' }],
          }),
      })
    await assert.rejects(
      failing('SOME_CODE'),
      /10 documents in a row failed.*SOME_CODE: No\./,
    )
    await assert.rejects(
      failing('UNAUTHORIZED_ACCESS'),
      /^EmbedStop: UNAUTHORIZED_ACCESS: No\./,
    )
  })
})
