/** Operating a server from the console, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertAccessible, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

describe('the pages of the server', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole({ slowCommandMs: 1e-9 })
    const { server } = console
    for (const [name, count] of [
      ['few', 1],
      ['more', 30],
    ] as const) {
      await server.command('/default_keyspace', { createCollection: { name } })
      const documents = Array.from({ length: count }, (_, n) => ({ n }))
      await server.command(`/default_keyspace/${name}`, { insertMany: { documents } })
    }
  })
  after(() => console.close())

  test('show health, plots, sizes and slow commands', async () => {
    const page = await console.page('#/operate', { colorScheme: 'dark' })
    await page.getByText('Healthy', { exact: true }).waitFor()
    const plot = page.getByRole('figure', { name: 'Commands per second' })
    await plot.locator('canvas').waitFor()
    assert.match(await plot.innerText(), /succeeded\s+[\d.]+/)
    assert.match(
      await page.getByRole('figure', { name: 'Memory' }).innerText(),
      /process\s+\d+ MB/,
    )
    // A visible plot is redrawn in the colours of a changed theme.
    while (!(await page.evaluate(isGridDrawn)));
    await page.emulateMedia({ colorScheme: 'light' })
    while (!(await page.evaluate(isGridDrawn)));
    await page.emulateMedia({ colorScheme: 'dark' })
    const sizes = page.getByRole('region', { name: 'Sizes' })
    const names = () => sizes.locator('tbody td:first-child').allInnerTexts()
    await sizes.getByRole('button', { name: 'Documents' }).click()
    assert.deepEqual(await names(), ['more', 'few'])
    await sizes.getByRole('button', { name: 'Documents' }).click()
    assert.deepEqual(await names(), ['few', 'more'])
    const header = sizes.getByRole('columnheader', { name: 'Documents' })
    assert.equal(await header.getAttribute('aria-sort'), 'ascending')
    await page
      .getByRole('region', { name: 'Slow commands' })
      .getByRole('row', { name: /insertMany default_keyspace\.more/ })
      .first()
      .waitFor()
    await assertAccessible(page)
  })

  test('create a role and a token, show the token once, and revoke it', async () => {
    const page = await console.page('#/access')
    await page.getByRole('button', { name: 'New role' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('Reader of few')
    await form.getByLabel('Keyspace', { exact: true }).fill('default_keyspace')
    await form.getByLabel('Collection or table', { exact: true }).fill('few')
    await assertAccessible(page)
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'Reader of few', exact: true }).waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    const maker = page.getByRole('dialog')
    await maker.getByLabel('Description').fill('<i>dashboard</i>')
    await maker.getByLabel('Reader of few').check()
    await maker.getByRole('button', { name: 'Create the token' }).click()
    const token = await page.getByLabel('The new token', { exact: true }).last().innerText()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: '<i>dashboard</i>' }).first().waitFor()
    assert(!(await page.locator('body').innerText()).includes(token))
    // The token has the permissions of the role only.
    const db = console.db(token)
    assert.equal((await db.collection('few').find({}).toArray()).length, 1)
    await assert.rejects(db.collection('more').find({}).toArray())
    await assert.rejects(db.collection('few').insertOne({}))
    await assertLess(token)
    await console.page('#/access')
    await page.getByRole('button', { name: 'Revoke <i>dashboard</i>' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No tokens yet').waitFor()
    await assert.rejects(db.collection('few').find({}).toArray(), /token/i)
    await page.getByRole('button', { name: 'Delete Reader of few' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('cell', { name: 'Reader of few', exact: true })
      .waitFor({ state: 'detached' })
    await assertAccessible(page)
  })

  /** Checks that a read-only token sees neither tokens nor slow commands. */
  async function assertLess(token: string): Promise<void> {
    const page = await console.page('#/operate', { token, viewport: narrow })
    await page.getByText('may not list databases').waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Slow commands' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Access' }).count(), 0)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), narrow.width)
    await assertAccessible(page)
  }

  const narrow = { width: 800, height: 700 }
})

/** Whether the grid of a plot is drawn in the current border colour of its element. */
const isGridDrawn = `(() => {
  const host = document.querySelector('.plot-canvas')
  const canvas = host.querySelector('canvas')
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  const wanted = getComputedStyle(host).borderTopColor.match(/\\d+/g).map(Number)
  return data.some(
    (_, at) => at % 4 === 0 && data[at + 3] === 255 && wanted.every((part, n) => data[at + n] === part),
  )
})()`
