/** The frame of the console in a real browser: the tree, its width, and phones. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { startServer, testToken } from '../harness.ts'
import { assertAccessible, signIn, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

const keyspace = '#/db/home/default_keyspace'
const collectionCount = 150

describe('the frame', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
    for (let n = 0; n < collectionCount; n++) {
      const name = `c${String(n).padStart(3, '0')}`
      await console.server.command('/default_keyspace', { createCollection: { name } })
    }
    await console.server.command('/default_keyspace/c120', {
      insertMany: { documents: [{ _id: 'one', title: 'First', year: 1961 }] },
    })
  })
  after(() => console.close())

  const tree = (page: Page) => page.getByRole('tree')
  const line = (page: Page, name: string) =>
    page.getByRole('treeitem', { name: new RegExp(`^${name}\\b`) })

  test('renders only visible lines of the tree, and scrolls to the open collection', async () => {
    const page = await console.page(`${keyspace}/c120/data`)
    await line(page, 'c120').waitFor()
    assert.equal(await line(page, 'c120').getAttribute('aria-current'), 'page')
    assert((await page.getByRole('treeitem').count()) < 80)
    const box = (await line(page, 'c120').boundingBox())!
    assert(box.y > 0 && box.y < 720, `at ${box.y}`)
    // The keyboard reaches lines that are not rendered yet.
    await line(page, 'c120').focus()
    await page.keyboard.press('Home')
    await page.waitForFunction('document.activeElement.textContent.startsWith("stela")')
    await page.keyboard.press('End')
    await page.waitForFunction('document.activeElement.textContent.startsWith("c149")')
  })

  test('shows collections that another client creates', async () => {
    const page = await console.page(`${keyspace}/c149/data`)
    await line(page, 'c149').waitFor()
    await console.server.command('/default_keyspace', {
      createCollection: { name: 'c150' },
    })
    await page.evaluate("document.querySelector('[role=tree]').scrollTop = 1e9")
    await line(page, 'c150').waitFor()
  })

  test('can make the tree wider, and remembers its width', async () => {
    const page = await console.page(keyspace)
    const splitter = page.getByRole('separator', { name: 'Width of the tree' })
    const width = async () => (await tree(page).boundingBox())!.width
    const first = await width()
    const box = (await splitter.boundingBox())!
    await page.mouse.move(box.x + 3, 300)
    await page.mouse.down()
    await page.mouse.move(box.x + 103, 300)
    await page.mouse.up()
    assert.equal(await width(), first + 100)
    await splitter.focus()
    await page.keyboard.press('ArrowLeft')
    assert.equal(await width(), first + 84)
    await assertAccessible(page)
    await page.reload()
    await signIn(page)
    await tree(page).waitFor()
    assert.equal(await width(), first + 84)
  })

  test('has a menu on phones, and no page is wider than the screen', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await console.page(`${keyspace}/c120/data`, {
        viewport: { width: 390, height: 760 },
        colorScheme,
      })
      await page.getByRole('gridcell', { name: 'First' }).waitFor()
      await assertAccessible(page, colorScheme === 'light' ? 'all' : 'colours')
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.getByRole('button', { name: 'Show the menu' }).click()
      await page.getByRole('link', { name: 'Operate' }).waitFor()
      await page.getByLabel('Theme').waitFor()
      await line(page, 'c120').waitFor()
      await assertAccessible(page, colorScheme === 'light' ? 'all' : 'colours')
      await page.getByRole('link', { name: 'Operate' }).click()
      await page.getByRole('heading', { name: 'Operate', level: 1 }).waitFor()
      await page.getByRole('button', { name: 'Show the menu' }).waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.getByRole('button', { name: 'Show the menu' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('textbox', { name: 'Token' }).waitFor()
    }
  })

  test('is accessible at 1440 and 1920 pixels in both themes', async () => {
    for (const width of [1440, 1920])
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await console.page(`${keyspace}/c120/data`, {
          viewport: { width, height: 900 },
          colorScheme,
        })
        await page.getByRole('gridcell', { name: 'First' }).waitFor()
        await assertAccessible(page, colorScheme === 'light' ? 'all' : 'colours')
      }
  })

  test('takes at most 15 requests and 300 kB until the first table', async () => {
    const shared = await console.page('#/')
    const context = await shared.context().browser()!.newContext()
    try {
      // A page without the cache of the other tests.
      const page = await context.newPage()
      const requests: Request[] = []
      page.on('request', (request) => requests.push(request))
      await page.goto(`${console.server.url}/console${keyspace}/c120/data`)
      await signIn(page)
      await page.getByRole('gridcell', { name: 'First' }).waitFor()
      const made = requests.map((request) => `${request.method()} ${request.url()}`)
      const sizes = await Promise.all(requests.map((request) => request.sizes()))
      const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
      assert(made.length <= 15, made.join('\n'))
      assert(bytes <= 300_000, `${bytes} bytes`)
    } finally {
      await context.close()
    }
  })

  test('describes the options of a collection in words', async () => {
    await console.server.command('/default_keyspace', {
      createCollection: {
        name: 'vectors',
        options: {
          defaultId: { type: 'uuidv7' },
          vector: { dimension: 3, metric: 'dot_product' },
          indexing: { deny: ['text', 'notes'] },
        },
      },
    })
    const page = await console.page(`${keyspace}/vectors/settings`)
    await page.getByText('uuidv7').first().waitFor()
    const shown = await page.locator('.place-page').innerText()
    assert.match(shown, /Dimension\s+3\s+Metric\s+dot_product/)
    assert.match(shown, /All fields except\s+text, notes/)
    await page.getByText('Options as JSON').click()
    await page.getByText('"dimension": 3').waitFor()
    await assertAccessible(page)
  })

  test('says "read only" if the token may not write', async () => {
    const server = await startServer({ adminPort: 0 })
    try {
      await server.command('/default_keyspace', { createCollection: { name: 'books' } })
      const headers = { Token: testToken, 'Content-Type': 'application/json' }
      const roles = await fetch(`${server.adminUrl}/v2/organizations/roles`, { headers })
      const all = (await roles.json()) as { ID: string; Name: string }[]
      const reader = all.find(({ Name }) => Name === 'RO User')!
      const made = await fetch(`${server.adminUrl}/v2/clientIdSecrets`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ roles: [reader.ID] }),
      })
      const { token } = (await made.json()) as { token: string }
      const page = await console.page(`${keyspace}/books/data`, { server, token })
      await page.getByText('read only', { exact: true }).waitFor()
      await assertAccessible(page)
    } finally {
      await console.leave()
      await server.close()
    }
  })
})
