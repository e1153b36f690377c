/** The console in a real browser, on a server of its own, for the tests of one file. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { DataAPIClient, type Db } from '@datastax/astra-db-ts'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Config } from '../../src/settings/config.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

const axe = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

export class ConsoleWindow {
  readonly server: TestServer
  readonly browser: Browser
  /** What pages complained of, and requests that they sent elsewhere. */
  readonly complaints: string[] = []

  private constructor(server: TestServer, browser: Browser) {
    this.server = server
    this.browser = browser
  }

  static async open(
    config: Partial<Config>,
    launched: Promise<Browser>,
  ): Promise<ConsoleWindow> {
    const server = startServer({ adminPort: 0, ...config })
    return new ConsoleWindow(await server, await launched)
  }

  /** The browser stays. */
  async close(): Promise<void> {
    for (const context of this.browser.contexts()) await context.close()
    await this.server.close()
    assert.deepEqual(this.complaints, [])
  }

  /** The official client, which tells what the console did. */
  db(token = testToken): Db {
    return new DataAPIClient({ environment: 'hcd' }).db(this.server.url, {
      token,
      keyspace: 'default_keyspace',
    })
  }

  /** A new window of the browser, signed in, at a place of the console. */
  async page(
    hash: string,
    { token = testToken, server = this.server, ...options }: PageOptions = {},
  ): Promise<Page> {
    const context = await this.browser.newContext(options)
    const page = await context.newPage()
    const { origin } = new URL(server.url)
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('console', (message) => {
      // What is refused, or does not arrive, is told as an error by its status alone.
      const isTold = /status of 4\d\d|ERR_INTERNET_DISCONNECTED/.test(message.text())
      if (message.type() === 'error' && !isTold) this.complaints.push(message.text())
    })
    page.on('request', (asked) => {
      const { protocol, origin: to } = new URL(asked.url())
      if (protocol.startsWith('http') && to !== origin) this.complaints.push(asked.url())
    })
    await page.goto(`${server.url}/console${hash}`)
    await signIn(page, token)
    return page
  }
}

export type PageOptions = BrowserContextOptions & {
  readonly token?: string
  /** Another than that of the window. */
  readonly server?: TestServer
}

export async function signIn(page: Page, token = testToken): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(token)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const allRules = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']"
/** The one rule that a theme makes a difference to. */
const colourRules = "{ type: 'rule', values: ['color-contrast'] }"

/** Fails with everything that WCAG AA asks for and the page does not have. */
export async function assertAccessible(
  page: Page,
  asked: 'all' | 'colours' = 'all',
): Promise<void> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe)
  const rules = asked === 'all' ? allRules : colourRules
  const found = await page.evaluate(
    `axe.run({ runOnly: ${rules}, resultTypes: ['violations'] })
      .then(({ violations }) => violations)`,
  )
  const offences = (found as readonly Violation[]).map(({ id, help, nodes }) => {
    const [first] = nodes
    return `${id}: ${help}\n  ${first!.html}\n  ${first!.failureSummary}`
  })
  assert.deepEqual(offences, [])
}
