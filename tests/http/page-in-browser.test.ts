/** The HTML page of the API, in a real browser. */
import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { commandsAt } from '../../src/commands/dispatch/registry.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { launchBrowser, patienceMs } from './browser.ts'

describe('the page of the API', () => {
  let server: TestServer
  let browser: Browser
  before(async () => {
    server = await startServer()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser.close()
    await server.close()
  })

  /** Opens the page in a new window. Asserts that it loads nothing else and logs no errors. */
  async function open(
    context: TestContext,
    options: BrowserContextOptions & { at?: string } = {},
  ): Promise<Page> {
    const { at = `${server.url}/swagger-ui`, ...window } = options
    const browserContext = await browser.newContext(window)
    browserContext.setDefaultTimeout(patienceMs)
    const page = await browserContext.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      // Browsers log a failed request as a console error with its status.
      if (message.type() === 'error' && !message.text().includes('401'))
        complaints.push(message.text())
    })
    page.on('request', (asked) => {
      if (new URL(asked.url()).origin !== new URL(at).origin) complaints.push(asked.url())
    })
    context.after(async () => {
      await browserContext.close()
      assert.deepEqual(complaints, [])
    })
    await page.goto(at)
    await page.getByRole('heading', { name: 'Schemas' }).waitFor()
    return page
  }

  /** Opens a command through its link, and sends a body with the form of the command. */
  async function send(page: Page, name: string, body: object, path: string) {
    const entry = page.locator(`details.command:has(h3:text-is("${name}"))`)
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    await entry.getByLabel('POST to').fill(path)
    await entry.getByLabel('Body').fill(JSON.stringify(body))
    await entry.getByRole('button', { name: 'Send' }).click()
    const status = entry.getByRole('status')
    await status.filter({ hasText: / ms$/ }).waitFor()
    return {
      says: await status.textContent(),
      isBad: (await status.getAttribute('class')) === 'bad',
      reply: (await entry.getByLabel('Reply').textContent())!,
    }
  }

  test('lists every command, collapsed', async (context) => {
    const page = await open(context)
    const shown = await page.locator('details.command h3').allTextContents()
    assert.deepEqual(
      new Set(shown),
      new Set(Object.values(commandsAt).flatMap((ofLevel) => [...ofLevel.keys()])),
    )
    assert.equal(await page.locator('details[open].command').count(), 0)
    assert.match((await page.locator('#version').textContent())!, /^\d+\.\d+\.\d+$/)
  })

  test('opens a command from a link', async (context) => {
    const page = await open(context)
    await page
      .getByRole('navigation')
      .getByRole('link', { name: 'insertMany', exact: true })
      .click()
    // The browser follows the link asynchronously.
    const entry = page.locator('details.command[open]')
    await entry.waitFor()
    assert.equal(await entry.count(), 1)
    assert.equal(await entry.getByRole('heading', { level: 3 }).textContent(), 'insertMany')
    const fields = await entry.locator('tbody th').allTextContents()
    assert(fields.includes('documents') && fields.includes('options.ordered'))
    // The address now contains the command, so opening the address shows the command again.
    const again = await open(context, { at: page.url() })
    assert.equal(
      await again.locator('details.command[open] h3').textContent(),
      'insertMany',
    )
  })

  test('finds commands by part of their names', async (context) => {
    const page = await open(context)
    const links = page.getByRole('navigation').getByRole('link')
    const all = await links.count()
    await page.getByLabel('Find a command').fill('RERANK')
    assert.deepEqual(await links.allTextContents(), [
      'findRerankingProviders',
      'findAndRerank',
    ])
    await page.getByLabel('Find a command').fill('')
    assert.equal(await links.count(), all)
  })

  test('sends commands and shows the replies unchanged', async (context) => {
    const page = await open(context)
    const refused = await send(page, 'findKeyspaces', { findKeyspaces: {} }, '/v1')
    assert(refused.isBad)
    assert.match(refused.says!, /^401 /)
    await page.getByLabel('Token').fill(testToken)
    const path = '/v1/default_keyspace'
    const made = { createCollection: { name: 'seen' } }
    const created = await send(page, 'createCollection', made, path)
    assert(!created.isBad)
    assert.match(created.says!, /^200 OK, \d+ ms$/)
    assert.equal(created.reply, '{ "status": { "ok": 1 } }')
    const markup = '<img src=x onerror="document.title=1">'
    await server.command('/default_keyspace/seen', {
      insertOne: { document: { _id: markup } },
    })
    await server.command(
      '/default_keyspace/seen',
      '{"insertOne": {"document": {"_id": "n", "n": 123456789012345678901234567890.10}}}',
    )
    const found = await send(page, 'find', { find: {} }, `${path}/seen`)
    assert(found.reply.includes(JSON.stringify(markup)))
    assert(found.reply.includes('123456789012345678901234567890.1'))
    assert.equal(await page.locator('pre img').count(), 0)
    const wrong = await send(page, 'find', { find: { filter: 1 } }, `${path}/seen`)
    assert(wrong.isBad)
    assert.match(wrong.says!, /^200 OK, with errors/)
  })

  test('keeps the token within its tab', async (context) => {
    const page = await open(context)
    await page.getByLabel('Token').fill('secret')
    assert.equal(await page.getByLabel('Token').getAttribute('type'), 'password')
    await page.getByLabel('show').check()
    assert.equal(await page.getByLabel('Token').getAttribute('type'), 'text')
    await page.reload()
    assert.equal(await page.getByLabel('Token').inputValue(), 'secret')
    const other = await page.context().newPage()
    await other.goto(page.url())
    assert.equal(await other.getByLabel('Token').inputValue(), '')
  })

  test('can be used with the keyboard alone', async (context) => {
    const page = await open(context)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#commands$/)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const entry = page.locator('details.command[open]')
    await entry.waitFor()
    assert.equal(await entry.count(), 1)
    await entry.getByLabel('Body').focus()
    await page.keyboard.press('Control+Enter')
    await entry.getByRole('status').filter({ hasText: /^401 / }).waitFor()
  })

  test('fits narrow windows and follows the preferred colour scheme', async (context) => {
    const narrow = { width: 360, height: 640 }
    const light = await open(context, { viewport: narrow, colorScheme: 'light' })
    const dark = await open(context, { colorScheme: 'dark' })
    assert.equal(await light.locator('#menu[open]').count(), 0)
    assert.equal(await dark.locator('#menu[open]').count(), 1)
    for (const entry of (await light.locator('details.command > summary').all()).slice(
      0,
      9,
    ))
      await entry.click()
    assert.equal(await light.evaluate('document.documentElement.scrollWidth'), narrow.width)
    const background = (page: Page) =>
      page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    assert.notEqual(
      await light.evaluate('getComputedStyle(document.body).color'),
      await background(light),
    )
    assert.notEqual(await background(light), await background(dark))
  })

  test('works behind a proxy that adds a prefix', async (context) => {
    const proxy = createServer((asked, answer) => {
      if (!asked.url!.startsWith('/stela/')) return void answer.writeHead(404).end()
      const { method, headers } = asked
      const onward = request(
        server.url + asked.url!.slice('/stela'.length),
        { method, headers },
        (answered) => {
          answer.writeHead(answered.statusCode!, answered.headers)
          answered.pipe(answer)
        },
      )
      asked.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    context.after(() => proxy.close())
    const { port } = proxy.address() as AddressInfo
    const page = await open(context, { at: `http://127.0.0.1:${port}/stela/swagger-ui/` })
    await page.getByLabel('Token').fill(testToken)
    const { reply } = await send(page, 'findKeyspaces', { findKeyspaces: {} }, '/v1')
    assert.match(reply, /default_keyspace/)
  })
})
