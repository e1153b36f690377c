/** The fields of a collection or table, new documents with these fields, and new collections. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { parseJson } from '../../src/console/json/parse-json.ts'
import type { JsonObject } from '../../src/console/json/value.ts'
import { summarizeFields } from '../../src/console/fields/summarize-fields.ts'
import { assertAccessible, goTo, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

const keyspace = '/default_keyspace'

describe('the summary of fields', () => {
  const summaryOf = (...texts: string[]) =>
    new Map(
      summarizeFields(texts.map((text) => parseJson(text) as JsonObject)).map((field) => [
        field.path,
        field,
      ]),
    )

  test('counts documents, types, values and ranges, also in nested fields', () => {
    const fields = summaryOf(
      '{"n":2,"a":{"b.c":"x"},"at":{"$date":5},"mixed":1}',
      '{"n":10,"a":{"b.c":"xyz"},"at":{"$date":9},"mixed":"1"}',
      '{"n":2,"mixed":null,"tags":["p","q","p"]}',
    )
    assert.deepEqual([...fields.keys()].toSorted(), [
      'a',
      'a.b&.c',
      'at',
      'mixed',
      'n',
      'tags',
    ])
    const n = fields.get('n')!
    assert.equal(n.count, 3)
    assert.equal(n.distinct, 2)
    assert.deepEqual(
      JSON.stringify(n.range),
      '{"kind":"values","least":{"text":"2"},"greatest":{"text":"10"}}',
    )
    assert.equal(n.examples[0]!.count, 2)
    assert.deepEqual(fields.get('a.b&.c')!.range, {
      kind: 'lengths',
      least: 1,
      greatest: 3,
    })
    assert.deepEqual(fields.get('at')!.types, [{ value: 'date', count: 2 }])
    assert.deepEqual(
      fields.get('mixed')!.types.map(({ value }) => value),
      ['number', 'string', 'null'],
    )
    assert.deepEqual(fields.get('tags')!.examples, [
      { value: 'p', count: 2 },
      { value: 'q', count: 1 },
    ])
  })

  test('counts at most 1 000 different values of a field', () => {
    const many = Array.from({ length: 1_001 }, (_, i) => `{"n":${i}}`)
    assert.equal(summaryOf(...many).get('n')!.distinct, undefined)
    assert.equal(summaryOf(...many.slice(1)).get('n')!.distinct, 1_000)
  })
})

describe('the fields of a collection', () => {
  let console: ConsoleWindow
  let page: Page
  before(async () => {
    console = await openConsole()
    const { server } = console
    for (const name of ['books', 'empty'])
      await server.command(keyspace, { createCollection: { name } })
    for (let at = 0; at < 150; at += 50) {
      const documents = Array.from({ length: 50 }, (_, i) => ({
        ...{ _id: at + i, title: `Book ${at + i}`, year: 1900 + at + i },
        ...{ genre: i % 2 === 0 ? 'poetry' : 'prose', author: { name: 'Ada' } },
        ...(i === 0 ? { rare: true } : {}),
      }))
      await server.command(`${keyspace}/books`, { insertMany: { documents } })
    }
    const columns = { id: 'int', tags: { type: 'set', valueType: 'text' }, note: 'text' }
    const definition = { columns, primaryKey: 'id' }
    await server.command(keyspace, { createTable: { name: 'rows', definition } })
    await server.command(`${keyspace}/rows`, {
      insertOne: { document: { id: 7, tags: ['a'], note: 'b' } },
    })
  })
  beforeEach(async () => {
    page = await console.at('#/')
  })
  after(() => console.close())

  function open(name: string, tab: string): Promise<void> {
    return goTo(page, `#/db/home/default_keyspace/${name}/${tab}`)
  }

  /** The cells of the row of a field. */
  async function rowOf(name: string): Promise<readonly string[]> {
    const table = page.getByRole('region', { name: 'Fields', exact: true })
    const row = table
      .getByRole('row')
      .filter({ has: page.getByText(name, { exact: true }) })
    return row.getByRole('cell').allInnerTexts()
  }

  test('are shown with their shares and ranges, from a sample of a stated size', async () => {
    await open('books', 'fields')
    await page.getByText('From all 150 documents. They have 7 fields.').waitFor()
    const [, types, share, distinct, range] = await rowOf('year')
    assert.deepEqual(
      [types, share, distinct, range],
      ['number', '100%', '150', '1900 to 2049'],
    )
    assert.deepEqual((await rowOf('rare')).slice(1, 4), ['boolean', '2%', '1'])
    await assertAccessible(page)
    await page.getByLabel('Sample', { exact: true }).selectOption('first 100')
    await page.getByText('From the first 100 documents of 150').waitFor()
    await page.getByRole('searchbox', { name: 'Find a field' }).fill('author')
    await page.getByRole('button', { name: 'author.name', exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'year', exact: true }).count(), 0)
  })

  test('make filters of the data by a click on a value, a range or a name', async () => {
    const filter = page.getByRole('textbox', { name: 'Filter' })
    for (const [button, text, count] of [
      ['poetry × 75', '{"genre":"poetry"}', 75],
      ['1900 to 2049', '{"year":{"$gte":1900,"$lte":2049}}', 150],
      ['rare', '{"rare":{"$exists":true}}', 3],
    ] as const) {
      await open('books', 'fields')
      await page.getByRole('button', { name: button, exact: true }).click()
      await filter.waitFor()
      assert.equal((await filter.innerText()).replace(/\s/g, ''), text)
      await page
        .getByText(`1–${Math.min(20, count)}`)
        .first()
        .waitFor()
    }
  })

  test('have the types of the columns in a table, and an empty collection has none', async () => {
    await open('rows', 'fields')
    await page.getByText('From all 1 row. They have 3 fields.').waitFor()
    assert.equal((await rowOf('tags'))[1], 'set')
    await page.getByRole('button', { name: '7', exact: true }).waitFor()
    await open('empty', 'fields')
    await page.getByText('empty is empty').waitFor()
  })

  test('are in the editor of a new document, with empty values', async () => {
    // A new page has no filter. With a filter, the fields are those of the documents it shows.
    page = await console.page('#/db/home/default_keyspace/books/data')
    await page.getByText('1–20').waitFor()
    await page.getByRole('button', { name: 'Insert' }).click()
    const text = page.getByRole('textbox', { name: 'Document' })
    await text.filter({ hasText: '$lexical' }).waitFor()
    assert.deepEqual(JSON.parse(await text.innerText()), {
      author: { name: '' },
      ...{ genre: '', title: '', year: 0, $lexical: '' },
    })
    await page.keyboard.press('Escape')
  })

  test('begin with a collection whose form has the built-in model, and says what is missing', async () => {
    await goTo(page, '#/db/home/default_keyspace')
    await page.getByRole('button', { name: 'Create collection' }).first().click()
    const form = page.getByRole('dialog')
    await form.getByText('Still missing: a name.').waitFor()
    const create = form.getByRole('button', { name: 'Create collection' })
    const provider = form.getByLabel('Provider')
    assert.equal(await provider.first().inputValue(), 'local')
    const [first, second] = await provider.first().locator('option').allInnerTexts()
    assert.deepEqual([first, second], ['Choose one', 'Built-in model'])
    await form.getByRole('button', { name: 'I send vectors' }).click()
    await form.getByText('Still missing: a name, the dimension of the vectors.').waitFor()
    await form.getByRole('button', { name: 'A model embeds texts' }).click()
    await provider.first().selectOption('azureOpenAI')
    await form.getByText(/Still missing: a name, .* of the model/).waitFor()
    assert(await create.isDisabled())
    await assertAccessible(page)
    await provider.first().selectOption('local')
    await form.getByLabel('Name', { exact: true }).fill('begun')
    await create.click()
    await page.getByText('begun is empty').waitFor()
    const { vector } = await console.db().collection('begun').options()
    assert.equal(vector!.service!.provider, 'local')
  })
})
