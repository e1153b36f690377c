/** Work in the grid of the Data page, in a real browser; the official client verifies the results. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

const books = '#/db/home/default_keyspace/books/data'
const large = '#/db/home/default_keyspace/large/data'
const loans = '#/db/home/default_keyspace/loans/data'

describe('the grid', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
    await console.server.command('/default_keyspace', {
      createCollection: { name: 'books' },
    })
    await console.server.command('/default_keyspace', {
      createCollection: { name: 'large', options: { indexing: { deny: ['text'] } } },
    })
    await console.server.command('/default_keyspace', {
      createTable: {
        name: 'loans',
        definition: {
          columns: { member: 'text', fee: 'decimal', open: 'boolean', note: 'text' },
          primaryKey: 'member',
        },
      },
    })
  })
  after(() => console.close())
  beforeEach(async () => {
    const { server } = console
    await server.command('/default_keyspace/books', { deleteMany: {} })
    for (let from = 0; from < 60; from += 20) {
      const documents = Array.from({ length: 20 }, (_, at) => {
        const n = from + at
        return {
          _id: `b${String(n).padStart(2, '0')}`,
          title: `Title ${n}`,
          year: 1950 + n,
          isLent: n % 2 === 0,
          author: { name: n % 2 === 0 ? 'Lem' : 'Butler' },
          at: { $date: 1_600_000_000_000 + n },
        }
      })
      await server.command('/default_keyspace/books', { insertMany: { documents } })
    }
    await server.command('/default_keyspace/loans', { deleteMany: {} })
    const rows = ['ada', 'bo'].map((member) => ({ member, fee: 1.5, open: true }))
    await server.command('/default_keyspace/loans', { insertMany: { documents: rows } })
  })

  const grid = (page: Page) => page.getByRole('grid')
  const cell = (page: Page, text: string) =>
    grid(page).getByRole('gridcell', { name: text, exact: true }).first()
  const status = (page: Page) => page.locator('.page-bar').getByRole('status')
  const choose = (page: Page, name: string) =>
    page.getByRole('menuitem', { name, exact: true }).click()
  const rowWith = (page: Page, text: string) =>
    grid(page).locator('.grid-row.document', { has: page.getByText(text, { exact: true }) })
  /** The cell of a column in the row of a document. */
  const at = (page: Page, id: string, column: number) =>
    rowWith(page, id).locator('.grid-cell').nth(column)
  const saved = (page: Page) => page.locator('.cell-editor').waitFor({ state: 'detached' })
  const document = (id: string) => console.db().collection('books').findOne({ _id: id })

  test('edits a value in its cell, keeps its type, and undoes the change', async () => {
    const page = await console.page(books)
    await at(page, 'b01', 2).dblclick()
    const year = page.getByRole('textbox', { name: 'year' })
    assert.equal(await year.inputValue(), '1951')
    await assertAccessible(page)
    // What is not a number is refused, and the text stays.
    await year.fill('195x')
    await year.press('Enter')
    await page.getByRole('alert').getByText('"195x" is not a number').waitFor()
    assert.equal(await year.inputValue(), '195x')
    await assertAccessible(page)
    await year.fill('12345678901234567890.5')
    await year.press('Enter')
    await cell(page, '12345678901234567890.5').waitFor()
    const { text } = await console.server.command('/default_keyspace/books', {
      findOne: { filter: { _id: 'b01' } },
    })
    assert.match(text, /"year":12345678901234567890.5\b/)
    // The grid has the focus again. Control+Z restores the value.
    await page.keyboard.press('Control+z')
    await page.getByText('Restored year of b01.').waitFor()
    assert.equal((await document('b01'))!['year'], 1951)
    // The undo of the message does the same.
    await at(page, 'b02', 1).click()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'title' }).fill('Another title')
    await page.keyboard.press('Tab')
    await cell(page, 'Another title').waitFor()
    assert.equal((await document('b02'))!['title'], 'Another title')
    await page.getByText('Changed title of b02.').locator('..').getByText('Undo').click()
    await cell(page, 'Title 2').waitFor()
  })

  test('changes the type of a value, and edits booleans, dates and nested values', async () => {
    const page = await console.at(books)
    const type = page.getByLabel('Type of the value')
    await at(page, 'b03', 2).dblclick()
    await type.selectOption('text')
    await page.getByRole('textbox', { name: 'year' }).press('Enter')
    await saved(page)
    assert.equal((await document('b03'))!['year'], '1953')
    await at(page, 'b03', 3).dblclick()
    await page.getByRole('combobox', { name: 'isLent' }).selectOption('true')
    await page.getByRole('combobox', { name: 'isLent' }).press('Enter')
    await saved(page)
    assert.equal((await document('b03'))!['isLent'], true)
    await at(page, 'b03', 5).dblclick()
    assert.equal(await type.inputValue(), 'date')
    await page.getByRole('textbox', { name: 'at' }).fill('2026-01-31T12:30:00Z')
    await page.keyboard.press('Enter')
    await saved(page)
    assert.deepEqual((await document('b03'))!['at'], new Date('2026-01-31T12:30:00Z'))
    await rowWith(page, 'b03').locator('.twisty .icon').click()
    await grid(page).locator('.grid-field').last().dblclick()
    await page.getByRole('textbox', { name: 'author.name' }).fill('Octavia')
    await page.keyboard.press('Enter')
    await saved(page)
    assert.deepEqual((await document('b03'))!['author'], { name: 'Octavia' })
    // Escape leaves the value unchanged, and the key cannot be edited.
    await at(page, 'b04', 1).dblclick()
    await page.getByRole('textbox', { name: 'title' }).fill('lost')
    await page.keyboard.press('Escape')
    await saved(page)
    assert.equal((await document('b04'))!['title'], 'Title 4')
    await at(page, 'b04', 0).dblclick()
    await page.getByText('_id cannot be changed.').waitFor()
    assert.equal(await page.locator('.cell-editor').count(), 0)
  })

  test('does not overwrite a value that another client has changed', async () => {
    const page = await console.at(books)
    const collection = console.db().collection('books')
    await at(page, 'b05', 1).dblclick()
    const title = page.getByRole('textbox', { name: 'title' })
    await title.fill('mine')
    await collection.updateOne({ _id: 'b05' }, { $set: { title: 'theirs' } })
    await title.press('Enter')
    await page.getByRole('alert').getByText('Another client has set it to theirs').waitFor()
    assert.equal((await document('b05'))!['title'], 'theirs')
    assert.equal(await title.inputValue(), 'mine')
    await title.press('Enter')
    await saved(page)
    assert.equal((await document('b05'))!['title'], 'mine')
    // An undo has the same check.
    await collection.updateOne({ _id: 'b05' }, { $set: { title: 'theirs again' } })
    await page.keyboard.press('Control+z')
    await page.getByText('title was not restored.').waitFor()
    assert.equal((await document('b05'))!['title'], 'theirs again')
  })

  test('edits rows of a table by the types of the columns', async () => {
    const page = await console.at(loans)
    const table = console.db().table('loans')
    await at(page, 'ada', 1).dblclick()
    const type = page.getByLabel('Type of the value')
    assert.deepEqual(await type.locator('option').allInnerTexts(), ['number', 'null'])
    await page.getByRole('textbox', { name: 'fee' }).fill('2.25')
    await page.keyboard.press('Enter')
    await saved(page)
    assert.equal(String((await table.findOne({ member: 'ada' }))!['fee']), '2.25')
    // A column without a value gets one, and an undo removes it.
    await at(page, 'ada', 2).dblclick()
    await page.getByRole('textbox', { name: 'note' }).fill('late')
    await page.keyboard.press('Enter')
    await saved(page)
    assert.equal((await table.findOne({ member: 'ada' }))!['note'], 'late')
    await page.keyboard.press('Control+z')
    await page.getByText('Restored note of ada.').waitFor()
    assert.equal((await table.findOne({ member: 'ada' }))!['note'], null)
  })

  test('selects ranges by Shift, the page, and every match', async () => {
    const page = await console.page(books)
    const bar = page.getByRole('group', { name: 'Selection' })
    await page.getByLabel('Select b02').click()
    await page.getByLabel('Select b06').click({ modifiers: ['Shift'] })
    await bar.getByText('5 selected.').waitFor()
    await page.getByLabel('Select all on this page').click()
    await bar.getByText('20 selected, all of this page.').waitFor()
    await assertAccessible(page)
    await bar.getByRole('button', { name: 'Select all 60 that match' }).click()
    await bar.getByText('All 60 documents that match are selected.').waitFor()
    await page.getByLabel('Select b03').click()
    await bar.getByText('19 selected.').waitFor()
    await bar.getByRole('button', { name: 'Clear selection' }).click()
    // By keyboard: Shift and the arrow keys extend a selection, Control+A selects the page.
    await at(page, 'b01', 0).click()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await bar.getByText('3 selected.').waitFor()
    await page.keyboard.press('Control+a')
    await bar.getByText('20 selected, all of this page.').waitFor()
  })

  test('opens menus by a right click, also while text is selected on the page', async () => {
    const page = await console.at(books)
    await cell(page, 'Title 1').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Copy value' }).waitFor()
    await page.keyboard.press('Escape')
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("h1"))')
    await page.getByRole('button', { name: 'Actions on b03' }).click()
    await page.getByRole('menuitem', { name: 'Edit document' }).waitFor()
    await page.keyboard.press('Escape')
  })

  test('copies documents as JSON and CSV, and duplicates one', async () => {
    const page = await console.page(books)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
    await page.getByLabel('Select b01').click()
    await page.getByLabel('Select b02').click()
    await page.getByRole('button', { name: 'Copy JSON' }).click()
    await page.getByText('Copied 2 documents as JSON.').waitFor()
    const copied = JSON.parse(await clipboard()) as { _id: string }[]
    assert.deepEqual(
      copied.map(({ _id }) => _id),
      ['b01', 'b02'],
    )
    await page.getByRole('button', { name: 'Actions on b01' }).click()
    await choose(page, 'Copy 2 documents as CSV')
    await page.getByText('Copied 2 documents as CSV.').waitFor()
    assert.match(
      await clipboard(),
      /^_id,title,year,isLent,author,at\r\nb01,Title 1,1951,false,"\{""name"":""Butler""\}",/,
    )
    await page.getByRole('button', { name: 'Actions on b01' }).click()
    await choose(page, 'Duplicate document')
    const editor = page.getByRole('textbox', { name: 'Document' })
    await editor.filter({ hasText: 'Title 1' }).waitFor()
    assert.doesNotMatch(await editor.innerText(), /"_id"/)
    await page.getByRole('dialog').getByRole('button', { name: 'Insert' }).click()
    await page.getByText('Inserted 1 document.').waitFor()
    assert.equal(
      await console.db().collection('books').countDocuments({ title: 'Title 1' }, 9),
      2,
    )
  })

  test('updates every match, after showing how many there are', async () => {
    const page = await console.page(
      `${books}?filter=${encodeURIComponent('{"isLent":true}')}`,
    )
    await status(page).getByText('1–20 of 30').waitFor()
    await page.getByRole('button', { name: 'Update matching' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Update 30 documents' }).waitFor()
    const update = page.getByRole('textbox', { name: 'Update' })
    await update.click()
    await update.press('Control+a')
    await update.fill('{"$set": {"shelf": 7}}')
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Update 30 documents' }).click()
    await page.getByText('Updated 30 of 30 documents.').waitFor()
    const collection = console.db().collection('books')
    assert.equal(await collection.countDocuments({ shelf: 7, isLent: true }, 99), 30)
    assert.equal(await collection.countDocuments({ shelf: 7 }, 99), 30)
  })

  test('keeps the filter and the sort in the URL', async () => {
    const page = await console.page(books)
    await status(page).getByText('1–20 of 60').waitFor()
    await page.getByRole('columnheader', { name: 'year', exact: true }).click()
    await cell(page, '1950').click({ button: 'right' })
    await choose(page, 'Exclude this value')
    await status(page).getByText('1–20 of 59').waitFor()
    const parameters = new URLSearchParams(new URL(page.url()).hash.split('?')[1])
    assert.equal(parameters.get('filter'), '{"year":{"$ne":1950}}')
    assert.equal(parameters.get('sort'), '{"year":1}')
    const filter = page.getByRole('textbox', { name: 'Filter' })
    // Back removes the filter, and Forward applies it again.
    await page.goBack()
    await status(page).getByText('1–20 of 60').waitFor()
    assert.equal(await page.locator('[aria-sort=ascending]').count(), 1)
    await page.goForward()
    await status(page).getByText('1–20 of 59').waitFor()
    assert.equal(await filter.innerText(), '{"year":{"$ne":1950}}')
    // The filter survives a visit to another page of the collection.
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByLabel('File to import').waitFor({ state: 'attached' })
    await page.getByRole('link', { name: 'Data', exact: true }).last().click()
    await status(page).getByText('1–20 of 59').waitFor()
    assert.match(page.url(), /filter=/)
    await console.page(`${books}?filter=${encodeURIComponent('{"year":')}`)
    await page.getByRole('alert').getByText('The filter is not valid JSON').waitFor()
  })

  test('freezes the key, aligns numbers on the right, and keeps widths between pages', async () => {
    const page = await console.page(books, { viewport: { width: 800, height: 600 } })
    const handle = (await at(page, 'b01', 0).boundingBox())!
    await page.evaluate("document.querySelector('[role=grid]').scrollLeft = 200")
    assert.equal((await at(page, 'b01', 0).boundingBox())!.x, handle.x)
    const number = rowWith(page, 'b01').locator('.grid-cell.numeric')
    assert.equal(await number.innerText(), '1951')
    const box = (await number.boundingBox())!
    const text = (await number.locator('.grid-text').boundingBox())!
    assert(box.x + box.width - (text.x + text.width) < 12)
    const width = async () =>
      (await page.getByRole('columnheader', { name: 'author', exact: true }).boundingBox())!
        .width
    const first = await width()
    await page.getByRole('button', { name: 'Next page' }).click()
    await status(page).getByText('21–40').waitFor()
    assert.equal(await width(), first)
  })

  test('dims old rows while an answer is slow, and can cancel it', async () => {
    const page = await console.page(books)
    await status(page).getByText('1–20').waitFor()
    const held = Promise.withResolvers<undefined>()
    await page.route('**/v1/default_keyspace/books', async (route) => {
      await held.promise
      await route.continue().catch(() => undefined)
    })
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.locator('.document-grid.stale').waitFor()
    await cell(page, 'b01').waitFor()
    await page.locator('.page-bar').getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('You cancelled the request.').waitFor()
    await cell(page, 'b01').waitFor()
    assert.equal(await page.locator('.document-grid.stale').count(), 0)
    held.resolve(undefined)
    await page.unroute('**/v1/default_keyspace/books')
    await page.getByRole('button', { name: 'Refresh' }).last().click()
    await status(page).getByText('21–40').waitFor()
  })

  test('asks before an editor discards text', async () => {
    const page = await console.page(books)
    await page.getByRole('button', { name: 'Insert' }).click()
    const editor = page.getByRole('textbox', { name: 'Document' })
    await editor.click()
    await editor.press('Control+a')
    await editor.fill('{"title": "unsaved"}')
    // Closes the proposals, which Escape would close first.
    await editor.press('Home')
    for (let turn = 0; turn < 2; turn++) {
      await page.keyboard.press('Escape')
      const question = page.getByRole('dialog', { name: 'Discard your changes?' })
      await question.waitFor()
      await assertAccessible(page)
      // Another Escape goes back to the editor, however often it is pressed.
      await page.keyboard.press('Escape')
      await question.waitFor({ state: 'detached' })
      await page.getByRole('dialog', { name: 'Insert documents' }).waitFor()
      assert.match(await editor.innerText(), /unsaved/)
    }
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await editor.waitFor({ state: 'detached' })
  })

  test('promises an undo of a deletion only if the copy fits in memory', async () => {
    const { server } = console
    const text = 'x'.repeat(3_900_000)
    for (let n = 0; n < 11; n++)
      await server.command('/default_keyspace/large', {
        insertOne: { document: { _id: `big${n}`, isBig: true, text } },
      })
    const page = await console.page(
      `${large}?filter=${encodeURIComponent('{"isBig":true}')}`,
    )
    await page.getByRole('button', { name: 'Delete matching' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('asks again before it deletes anything').waitFor()
    await dialog.getByRole('button', { name: 'Delete 11 documents' }).click()
    await dialog.getByText('Nothing has been deleted yet.').waitFor()
    const collection = console.db().collection('large')
    assert.equal(await collection.countDocuments({ isBig: true }, 99), 11)
    await dialog.getByRole('button', { name: 'Delete 11 documents without undo' }).click()
    await page.getByText('Deleted 11 documents.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
    assert.equal(await collection.countDocuments({ isBig: true }, 99), 0)
  })
})
