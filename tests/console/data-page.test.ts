/**
 * Documents and rows in the console, in a real browser; the official client verifies the changes.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DataAPIVector } from '@datastax/astra-db-ts'
import type { Locator, Page } from 'playwright-core'
import { assertAccessible, signIn, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

const keyspace = '#/db/home/default_keyspace'

describe('the Data and Query pages', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
    const { server } = console
    const send = (path: string, body: unknown) =>
      server.command(`/default_keyspace${path}`, body)
    await send('', {
      createCollection: { name: 'books', options: { vector: { dimension: 2 } } },
    })
    const documents = Array.from({ length: 50 }, (_, n) => ({
      _id: `b${String(n).padStart(2, '0')}`,
      title: `Title ${n % 5}`,
      year: 1950 + n,
      author: { name: n % 2 === 0 ? 'Lem' : 'Butler', address: { city: 'Kraków' } },
      tags: ['a', `t${n % 3}`],
      $vector: [Math.cos(n / 10), Math.sin(n / 10)],
    }))
    await send('/books', { insertMany: { documents } })
    await send('', {
      createTable: {
        name: 'loans',
        definition: {
          columns: {
            member: 'text',
            at: 'timestamp',
            fee: 'decimal',
            tags: { type: 'set', valueType: 'text' },
          },
          primaryKey: { partitionBy: ['member'], partitionSort: { at: -1 } },
        },
      },
    })
    const rows = ['ada', 'bo'].map((member) => ({
      member,
      at: '2026-01-02T03:04:05Z',
      fee: 1,
      tags: ['x', 'y'],
    }))
    await send('/loans', { insertMany: { documents: rows } })
    await send('', {
      createCollection: { name: 'hostile', options: { indexing: { deny: ['*'] } } },
    })
    assert.deepEqual((await send('/hostile', hostileDocuments())).codes, [])
  })
  after(() => console.close())

  const grid = (page: Page) => page.getByRole('grid')
  const cell = (page: Page, text: string) =>
    grid(page).getByRole('gridcell', { name: text, exact: true }).first()
  const rowsOf = (page: Page) => grid(page).locator('.grid-row.document')
  /** The line of a field, by the name of the field. */
  const fieldOf = (page: Page, name: string) =>
    page
      .locator('.grid-field', {
        has: page.locator('.field-name', { hasText: new RegExp(`^${name}$`) }),
      })
      .first()
  const scroll = (page: Page, property: 'scrollLeft' | 'scrollTop', to: 0 | 1e9) =>
    page.evaluate(`document.querySelector('[role=grid]').${property} = ${to}`)
  const choose = (page: Page, name: string) => page.getByRole('menuitem', { name }).click()
  /** Replaces the text of an editor by typing. */
  const type = async (editor: Locator, text: string) => {
    await editor.click()
    await editor.press('Control+a')
    await editor.press('Delete')
    await editor.fill(text)
  }

  test('show documents by pages, sorted, with nested values', async () => {
    const page = await console.page(`${keyspace}/books/data`)
    const status = page.locator('.page-bar').getByRole('status')
    await status.filter({ hasText: '1–20 of 50' }).waitFor()
    // A value that is expanded in one document stays expanded after a refresh, and after visits of
    // other pages.
    await rowsOf(page).first().locator('.twisty .icon').first().click()
    await fieldOf(page, 'address').waitFor()
    await page.getByRole('button', { name: 'Refresh' }).last().click()
    await page.getByRole('button', { name: 'Next page' }).click()
    await status.filter({ hasText: '21–40' }).waitFor()
    assert.equal(await grid(page).locator('.field-line').count(), 0)
    await page.getByRole('button', { name: 'Next page' }).click()
    await status.filter({ hasText: '41–50' }).waitFor()
    assert(await page.getByRole('button', { name: 'Next page' }).isDisabled())
    await page.evaluate(recordPageTexts)
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.getByRole('button', { name: 'Previous page' }).click()
    await status.filter({ hasText: '1–20' }).waitFor()
    // The status text always describes the documents that are shown.
    for (const text of await page.evaluate<string[]>('pageTexts'))
      assert.match(text, /^(?:21–40 of 50.*b20|1–20 of 50.*b00|Loading)/)
    assert.equal(await grid(page).locator('.field-line').count(), 3)
    // Expands the value in all documents.
    await cell(page, '{ name: Butler, address: {1} }').click({ button: 'right' })
    await choose(page, 'Expand or collapse in all documents')
    await page.getByLabel('Page size').selectOption('100')
    await status.filter({ hasText: '1–50' }).waitFor()
    assert.match(await grid(page).innerText(), /name\s*Butler/)
    await page.getByRole('button', { name: 'JSON' }).click()
    await fieldOf(page, 'author').waitFor()
    await page.getByRole('button', { name: 'Table', exact: true }).click()

    const header = (name: string) => page.getByRole('columnheader', { name, exact: true })
    await header('year').click()
    await header('year').click()
    await cell(page, '1999').waitFor()
    assert.equal(await header('year').getAttribute('aria-sort'), 'descending')
    const { width } = (await header('title').boundingBox())!
    const edge = (await header('title').locator('.resizer').boundingBox())!
    await page.mouse.move(edge.x + 4, edge.y + 4)
    await page.mouse.down()
    await page.mouse.move(edge.x + 104, edge.y + 4)
    await page.mouse.up()
    assert.equal((await header('title').boundingBox())!.width, width + 100)
    await header('title').click({ button: 'right' })
    await choose(page, 'Hide column')
    assert.equal(await header('title').count(), 0)
    await page.getByRole('button', { name: 'Columns (1 hidden)' }).click()
    await page.getByRole('dialog').getByLabel('title').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await header('title').waitFor()
    // A reload keeps widths and hidden columns.
    await header('tags').click({ button: 'right' })
    await choose(page, 'Hide column')
    await page.reload()
    await signIn(page)
    await status.filter({ hasText: '1–50' }).waitFor()
    assert.equal((await header('title').boundingBox())!.width, width + 100)
    assert.equal(await header('tags').count(), 0)
    assert.match(await grid(page).innerText(), /name\s*Butler/)
  })

  test('filter by a clicked value, and find similar documents', async () => {
    const page = await console.page(`${keyspace}/books/data`)
    await cell(page, 'Title 3').click({ button: 'right' })
    await choose(page, 'Filter by this value')
    await page.locator('.page-bar').getByText('1–10').waitFor()
    await rowsOf(page).nth(1).locator('.twisty .icon').first().click()
    await fieldOf(page, 'name').click({ button: 'right' })
    await choose(page, 'Exclude this value')
    await page.locator('.page-bar').getByText('1–5').waitFor()
    const filter = page.getByRole('textbox', { name: 'Filter' })
    assert.equal(
      await filter.innerText(),
      '{"title":"Title 3","author.name":{"$ne":"Lem"}}',
    )
    await type(filter, '{"title": {"$gtt": 1}}')
    await page.getByText('$gtt').last().waitFor()
    await filter.press('Enter')
    await page.getByRole('alert').getByText('FILTER_UNSUPPORTED_OPERATOR').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.locator('.page-bar').getByText('1–20').waitFor()
    await page.getByRole('button', { name: 'Actions on b10' }).click()
    await choose(page, 'Find similar')
    await page.getByText('Similar to b10').waitFor()
    await page.getByRole('columnheader', { name: '$similarity' }).waitFor()
    // The similarity is shown beside the id.
    assert.match(await rowsOf(page).first().innerText(), /^b10\s+1\.0\s/)
    await page.getByRole('button', { name: 'Clear' }).click()
  })

  test('insert, replace, update and delete documents, and undo a deletion', async () => {
    const page = await console.at(`${keyspace}/books/data`)
    const books = console.db().collection('books')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Insert' }).click()
    const document = page.getByRole('textbox', { name: 'Document' })
    await type(document, '{"_id": "new", "n": 12345678901234567890.10, "$bad": 1}')
    await dialog.getByRole('button', { name: 'Insert' }).click()
    await dialog.getByRole('alert').getByText('SHRED_BAD_FIELD_NAME').waitFor()
    // The error of the server is marked at its position.
    assert.equal(await dialog.locator('.text-mark').innerText(), '"$bad"')
    await type(document, '{"_id": "new", "n": 12345678901234567890.10, "$vector": [1, 2]}')
    await document.press('Control+Enter')
    await dialog.waitFor({ state: 'detached' })
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await type(filter, '{"_id": "new"}')
    await filter.press('Enter')
    await page.getByRole('button', { name: 'Actions on new' }).click()
    await choose(page, 'Edit document')
    // The editor shows all digits, and the vector that find omits by default.
    await document.filter({ hasText: '12345678901234567890.1' }).waitFor()
    const text = await document.innerText()
    assert.match(text, /"\$vector": \[1.0, 2.0\]/)
    await type(document, text.replace('"n"', '"m": "added", "n"'))
    // Another client has changed the document; saving again overwrites its change.
    await books.updateOne({ _id: 'new' }, { $set: { other: true } })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Another client has changed it').waitFor()
    assert.equal((await books.findOne({ _id: 'new' }))!['m'], undefined)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const replaced = await books.findOne({ _id: 'new' }, { projection: { '*': 1 } })
    assert.equal(replaced!['m'], 'added')
    assert.deepEqual(vectorOf(replaced!), [1, 2])
    await page.getByRole('button', { name: 'Actions on new' }).click()
    await choose(page, 'Edit document')
    await dialog.getByRole('button', { name: 'Update operators' }).click()
    await type(page.getByRole('textbox', { name: 'Update' }), '{"$set": {"m": "changed"}}')
    await dialog.getByRole('button', { name: 'Update', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await cell(page, 'changed').waitFor()
    assert.match(
      (
        await console.server.command('/default_keyspace/books', {
          findOne: { filter: { _id: 'new' } },
        })
      ).text,
      /"n":12345678901234567890.1,|"n":12345678901234567890.1}/,
    )

    await page.getByRole('button', { name: 'Clear' }).click()
    await type(filter, '{"title": "Title 2"}')
    await filter.press('Enter')
    await page.locator('.page-bar').getByText('1–10').waitFor()
    await page.getByRole('button', { name: 'Delete matching' }).click()
    await dialog.getByRole('heading', { name: 'Delete 10 documents?' }).waitFor()
    await dialog.getByRole('button', { name: 'Delete 10 documents' }).click()
    await page.getByText('No documents match').waitFor()
    assert.equal(await books.countDocuments({ title: 'Title 2' }, 100), 0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.locator('.page-bar').getByText('1–10').waitFor()
    const restored = await books
      .find({ title: 'Title 2' }, { projection: { '*': 1 } })
      .toArray()
    assert.equal(restored.length, 10)
    assert(restored.every((document) => vectorOf(document).length === 2))

    await page.getByLabel('Select b02').check()
    await page.getByLabel('Select b07').check()
    await page.getByRole('button', { name: 'Delete 2 selected' }).click()
    await dialog.getByRole('button', { name: 'Delete 2 documents' }).click()
    await page.locator('.page-bar').getByText('1–8').waitFor()
    assert.equal(await books.findOne({ _id: 'b02' }), null)
  })

  test('change rows by their primary key', async () => {
    const page = await console.at(`${keyspace}/loans/data`)
    const loans = console.db().table('loans')
    const dialog = page.getByRole('dialog')
    const document = page.getByRole('textbox', { name: 'Document' })
    await page.getByRole('button', { name: 'Insert' }).click()
    await document.filter({ hasText: '"tags": []' }).waitFor()
    await type(
      document,
      '{"member": "cy", "at": "2026-02-03T00:00:00Z", "fee": 12345678901234567890.25}',
    )
    await dialog.getByRole('button', { name: 'Insert' }).click()
    await cell(page, '12345678901234567890.25').waitFor()
    await page.getByRole('button', { name: 'Actions on ada' }).click()
    await choose(page, 'Edit row')
    await document.filter({ hasText: '"tags"' }).waitFor()
    const text = await document.innerText()
    await type(
      document,
      text.replace(/"fee": 1/, '"fee": 2.50').replace(/,\s*"tags": \[[^\]]*\]/, ''),
    )
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const row = await loans.findOne({ member: 'ada' })
    assert.equal(String(row!['fee']), '2.5')
    assert.equal((row!['tags'] as Set<string>).size, 0)
    await page.getByRole('button', { name: 'Actions on bo' }).click()
    await choose(page, 'Delete row')
    await dialog.getByRole('button', { name: 'Delete 1 row' }).click()
    await page.getByText('Deleted 1 row.').waitFor()
    assert.equal(await loans.findOne({ member: 'bo' }), null)
    await cell(page, 'bo').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await cell(page, 'bo').waitFor()
    assert.equal((await loans.findOne({ member: 'bo' }))!['member'], 'bo')
    await cell(page, 'bo').click({ button: 'right' })
    await choose(page, 'Filter by this value')
    await page.locator('.page-bar').getByText('1–1').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Delete all' }).click()
    await dialog.getByLabel('Type loans to confirm').fill('loans')
    await dialog.getByRole('button', { name: 'Delete 3 rows' }).click()
    await page.getByText('loans is empty').waitFor()
    assert.equal(await loans.findOne({}), null)
  })

  test('show hostile documents as text, and only some elements of large documents', async () => {
    const page = await console.at(`${keyspace}/hostile/data`)
    await page.locator('.page-bar').getByText('1–5').waitFor()
    const shown = await grid(page).innerText()
    assert(shown.includes('<script>document.title = "bad"</script>'))
    assert(shown.includes('__proto__'))
    assert.equal(await page.evaluate('({}).polluted'), undefined)
    assert.equal(await grid(page).locator('script, img').count(), 0)
    // There are two thousand columns, and only visible ones are rendered.
    const cells = await grid(page).locator('.grid-header .grid-cell').count()
    assert(cells > 2 && cells < 40, `${cells} columns`)
    await scroll(page, 'scrollLeft', 1e9)
    await page.getByRole('columnheader', { name: 'list' }).waitFor()
    // The action buttons of a document stay visible however far its columns are scrolled.
    assert(await page.getByRole('button', { name: 'Actions on wide' }).isVisible())
    assert.deepEqual(
      (await rowsOf(page).first().locator('.grid-handle').boundingBox())!.x,
      (await grid(page).boundingBox())!.x,
    )
    await scroll(page, 'scrollLeft', 0)
    await page.getByRole('button', { name: 'JSON' }).click()
    assert((await grid(page).locator('.grid-row').count()) < 100)
    await scroll(page, 'scrollTop', 1e9)
    await fieldOf(page, 'list').locator('.twisty .icon').click()
    assert((await grid(page).locator('.grid-row').count()) < 100)
    await fieldOf(page, 'text').click({ button: 'right' })
    await choose(page, 'Show whole value')
    await page.getByText(`${longest.length.toLocaleString('en')} characters`).waitFor()
    assert((await page.getByRole('dialog').locator('.text-line').count()) < 100)
    await page.keyboard.press('Escape')
    // The editor also renders only visible lines.
    await page.getByRole('button', { name: 'Actions on large' }).click()
    await choose(page, 'Edit document')
    await page
      .getByRole('textbox', { name: 'Document' })
      .filter({ hasText: 'xxx' })
      .waitFor()
    assert.notEqual(await page.title(), 'bad')
  })

  test('run queries with completion, history, names, code and a trace', async () => {
    const page = await console.page(`${keyspace}/books/query`)
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.click()
    await page.keyboard.type('{"a')
    await page.getByRole('option', { name: /^author\.name/ }).waitFor()
    // Accepts the proposal immediately after a key press, because a user can be this fast on a slow
    // machine.
    await page.keyboard.press('u')
    await page.getByRole('option', { name: /^author\.name/ }).dispatchEvent('mousedown')
    assert.match(await filter.innerText(), /"author\.name"/)
    await type(filter, '{"year": {"$gte": 1990}}')
    await type(page.getByRole('textbox', { name: 'Sort' }), '{"year": -1}')
    await type(page.getByRole('textbox', { name: 'Projection' }), '{"title": 1}')
    await type(page.getByRole('textbox', { name: 'Options' }), '{"limit": 3}')
    await page.getByLabel('Explain').check()
    await page.getByLabel('Trace').check()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('.page-bar').getByText('1–3').waitFor()
    assert.match(
      await page.getByRole('region', { name: 'Events' }).innerText(),
      /Received the command find/,
    )
    const plans = await page.getByRole('region', { name: 'Explanation' }).innerText()
    assert.match(plans, /in the index of year, sorted in memory by year/)
    assert.match(plans, /Entries expected/)
    assert.equal(await page.getByRole('columnheader', { name: 'year' }).count(), 0)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Save as' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Nineties')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'As code' }).click()
    const code = page.getByRole('dialog').locator('pre')
    assert.match(await code.innerText(), /curl/)
    assert.match(await code.innerText(), /"\$gte"/)
    await page.getByRole('button', { name: 'Python' }).click()
    assert.match(await code.innerText(), /astrapy/)
    await page.keyboard.press('Escape')
    await type(filter, '{"year": ')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('alert').getByText('The filter is not valid JSON').waitFor()
    await page.reload()
    await signIn(page)
    await page.getByRole('button', { name: 'History and saved' }).click()
    await assertAccessible(page)
    await page.getByRole('button', { name: /^Nineties/ }).click()
    await page.locator('.page-bar').getByText('1–3').waitFor()
    await page.getByRole('button', { name: 'Count' }).click()
    await page.getByText('10 documents match.').waitFor()
  })

  test('are usable by keyboard alone, on narrow screens, and in both themes', async () => {
    const page = await console.page(`${keyspace}/books/data`, {
      viewport: { width: 800, height: 600 },
      colorScheme: 'dark',
    })
    await rowsOf(page).first().waitFor()
    const focused = () =>
      page.evaluate<string>(
        'document.activeElement.getAttribute("role") ?? document.activeElement.tagName',
      )
    for (let n = 0; n < 40 && (await focused()) !== 'grid'; n++)
      await page.keyboard.press('Tab')
    assert.equal(await focused(), 'grid')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menu').waitFor()
    await assertAccessible(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('.page-bar').getByText('1–10').waitFor()
    assert.equal(await focused(), 'grid')
    await page.keyboard.press('Shift+F10')
    for (let n = 0; n < 4; n++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /^Edit/ }).waitFor()
    const editor = page.getByRole('textbox', { name: 'Document' })
    await editor.filter({ hasText: '_id' }).waitFor()
    await assertAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    while ((await focused()) !== 'grid');
    // The arrow keys also reach the header above the first line. Its menu sorts.
    for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Sort descending' }).press('Enter')
    await page.locator('[aria-sort=descending]').waitFor()
  })
})

/** At each change of the page, records its status text and its first document. */
const recordPageTexts = `(() => {
  const status = document.querySelector('.page-bar [role=status]')
  const first = () => document.querySelector('.grid-row.document').textContent
  window.pageTexts = []
  new MutationObserver(() => pageTexts.push(status.textContent + first())).observe(status, {
    characterData: true, childList: true, subtree: true,
  })
})()`

/** The vector as numbers, from the value that the client returns. */
function vectorOf(document: Record<string, unknown>): readonly number[] {
  return (document['$vector'] as DataAPIVector).asArray()
}

/** A text that fills a document of the maximum length, 4 000 000 characters. */
const longest = 'x'.repeat(4_000_000 - '{"_id":"large","text":""}'.length)

function hostileDocuments(): string {
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`field${n}`, n]))
  // Names have at most 1 000 characters, so the longest texts are in values.
  const documents = [
    '{"_id":"<script>document.title = \\"bad\\"</script>","html":"<img src=x onerror=\\"document.title=1\\">","__proto__":{"polluted":true}}',
    JSON.stringify({ _id: 'long', ['<i>n'.repeat(250)]: '<b>'.repeat(4000) }),
    JSON.stringify({ _id: 'wide', ...wide }),
    JSON.stringify({ _id: 'large', text: longest }),
    JSON.stringify({ _id: 'many', list: Array.from({ length: 100_000 }, (_, n) => n) }),
  ]
  return `{"insertMany":{"documents":[${documents.join(',')}]}}`
}
