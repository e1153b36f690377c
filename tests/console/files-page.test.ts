/** Import of files into collections and tables, and export, in a real browser. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { assertAccessible, goTo, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

describe('the files page of a collection', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
    const { server } = console
    const keyspace = '/default_keyspace'
    for (const name of ['people', 'many', 'taken'])
      await server.command(keyspace, { createCollection: { name } })
    const columns = { id: 'bigint', name: 'text', at: 'timestamp', tags: setOfTexts }
    const definition = { columns, primaryKey: 'id' }
    await server.command(keyspace, { createTable: { name: 'rows', definition } })
    const documents = Array.from({ length: 45 }, (_, i) => ({ _id: i, n: i % 3 }))
    await server.command(`${keyspace}/taken`, { insertMany: { documents } })
    const long = '{"_id":"long","n":12345678901234567890.5,"<b>":{"__proto__":[1.5]}}'
    await server.command(`${keyspace}/taken`, `{"insertOne":{"document":${long}}}`)
    page = await console.page('#/')
  })
  after(() => console.close())

  const setOfTexts = { type: 'set', valueType: 'text' }

  /** One window for all tests, because loading the page takes most of the time of a test. */
  let page: Page
  const openFiles = async (name: string) => {
    await page.getByRole('link', { name: 'Stela: all databases' }).click()
    await page.getByRole('heading', { name: 'Databases' }).waitFor()
    await goTo(page, `#/db/home/default_keyspace/${name}/files`)
    await page.getByRole('heading', { name: 'Export' }).waitFor()
  }

  /** Emulates browsers without the file picker. */
  const withoutPicker = 'delete window.showSaveFilePicker'

  async function choose(name: string, content: string | Buffer) {
    const buffer = Buffer.from(content)
    const mimeType = 'application/octet-stream'
    await page.getByLabel('File to import').setInputFiles({ name, mimeType, buffer })
    await page.getByRole('region', { name: 'First records' }).waitFor()
  }

  async function download(button: string): Promise<string> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button }).click(),
    ])
    return readFileSync(await file.path(), 'utf8')
  }

  test('imports CSV with changed names and types of fields, and exports rejected records', async () => {
    await openFiles('people')
    await page.locator('.drop-zone').waitFor()
    await assertAccessible(page)
    const csv =
      'key;Full name;born;address.city;junk\r\n' +
      'a;"Ada ""L""";1815;London;1\r\nb;<b>Bob</b>;007;;2\r\na;Twice;1;;3\r\nc;x;y;z;1;2;3\r\n'
    await choose('people.csv', csv)
    await assertAccessible(page)
    await page.getByLabel('Field for key').fill('_id')
    await page.getByLabel('Field for Full name').fill('name')
    await page.getByLabel('Use junk').uncheck()
    await page.getByLabel('Type of born').selectOption('text')
    await page.getByRole('button', { name: 'Insert all' }).click()
    await page.getByText('2 documents inserted, 2 rejected').waitFor()
    await assertAccessible(page)
    const reasons = await page.getByRole('region', { name: 'Rejected lines' }).innerText()
    assert.match(reasons, /already has a document with _id "a"/)
    assert.match(reasons, /The record has 7 cells, but the header has 5 columns/)
    assert.equal(
      await download('Download rejected lines'),
      'key;Full name;born;address.city;junk\nc;x;y;z;1;2;3\na;Twice;1;;3\n',
    )
    const found = await console.db().collection('people').find({}).toArray()
    assert.deepEqual(
      found.toSorted((x, y) => (String(x._id) < String(y._id) ? -1 : 1)),
      [
        { _id: 'a', name: 'Ada "L"', born: '1815', address: { city: 'London' } },
        { _id: 'b', name: '<b>Bob</b>', born: '007' },
      ],
    )
  })

  test('imports every digit of a compressed file that is dropped on the target in the tree', async () => {
    const lines = [
      '{"ID":9007199254740993,"Name":"é","at":"2024-02-29 12:30","tags":["b","a"]}',
      'no JSON',
      '{"ID":"2","Name":7}',
    ].join('\n')
    const packed = gzipSync(lines).toString('base64')
    const drop = `(() => {
      const bytes = Uint8Array.from(atob('${packed}'), (c) => c.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], 'rows.jsonl.gz'))
      return data
    })()`
    const dataTransfer = await page.evaluateHandle(drop)
    const name = page.getByRole('treeitem', { name: 'rows' })
    await name.dispatchEvent('drop', { dataTransfer })
    await page.getByText(', gzip').waitFor()
    assert.equal(await page.getByLabel('Column for ID').inputValue(), 'id')
    await page.getByRole('button', { name: 'Insert all' }).click()
    await page.getByText('2 rows inserted, 1 rejected').waitFor()
    const { text } = await console.server.command('/default_keyspace/rows', {
      find: { filter: { id: 2 } },
    })
    assert.match(text, /\{"id":2,"name":"7"\}/)
    const exact = await console.server.command(
      '/default_keyspace/rows',
      '{"find":{"filter":{"id":9007199254740993}}}',
    )
    assert.match(
      exact.text,
      /\{"id":9007199254740993,"at":"2024-02-29T12:30:00Z","name":"é","tags":\["a","b"\]\}/,
    )
  })

  test('shows the progress of an import, and stops when the user cancels the import', async () => {
    await openFiles('many')
    const count = 60_000
    const text = `[${Array.from({ length: count }, (_, i) => `{"_id":${i}}`).join(',\n')}]`
    await choose('many.json', text)
    await page.getByRole('button', { name: 'Insert all' }).click()
    await page.getByText(/inserted · .* a second/).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Cancelled').waitFor()
    const said = await page.getByText(/documents inserted, in/).innerText()
    const inserted = Number(/^([\d,]+) documents/.exec(said)![1]!.replaceAll(',', ''))
    assert(inserted > 0 && inserted < count)
    const found = await console.db().collection('many').estimatedDocumentCount()
    assert.equal(found, inserted)
  })

  test('exports the result of a query, as JSON lines and as CSV', async () => {
    await openFiles('taken')
    await page.evaluate(withoutPicker)
    const all = await download('Save to a file')
    const lines = all.trimEnd().split('\n')
    assert.equal(lines.length, 46)
    assert(
      lines.includes('{"_id":"long","n":12345678901234567890.5,"<b>":{"__proto__":[1.5]}}'),
    )
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.click()
    await page.keyboard.insertText('{"n": {"$in": [1, 12345678901234567890.5]}}')
    await page.getByRole('button', { name: 'CSV' }).click()
    const columns = page.getByLabel('Columns')
    while ((await columns.inputValue()) === '');
    await columns.fill('n,_id')
    const csv = await download('Save to a file')
    const rows = csv.trimEnd().split('\r\n')
    assert.equal(rows[0], 'n,_id')
    assert.equal(rows.length, 17)
    assert(rows.includes('12345678901234567890.5,long'))
    await page
      .getByText(
        'The file has no column for these fields (number of documents with the field): <b> (1)',
      )
      .waitFor()
    await assertAccessible(page)
  })

  test('writes into a file chosen by the user, when the browser supports it', async () => {
    await openFiles('taken')
    await page.evaluate(
      `window.showSaveFilePicker = async ({ suggestedName }) =>
        (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`,
    )
    await page.getByRole('button', { name: 'Save to a file' }).click()
    await page.getByText('46 documents written').waitFor()
    const text = await page.evaluate(
      `navigator.storage.getDirectory()
        .then((folder) => folder.getFileHandle('taken.jsonl'))
        .then((handle) => handle.getFile())
        .then((file) => file.text())`,
    )
    assert.equal((text as string).split('\n').length, 47)
  })
})
