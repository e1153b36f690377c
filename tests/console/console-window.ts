/** The console in a real browser, on a server that belongs to one test file. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { DataAPIClient, type Db } from '@datastax/astra-db-ts'
import type { ConsoleMessage, Page, Request } from 'playwright-core'
import type { Config } from '../../src/settings/config.ts'
import { timeoutDefaults } from '../clients/client.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

const axe = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

export class ConsoleWindow {
  readonly server: TestServer
  readonly #page: Page
  /** Errors that pages logged, and requests to other origins. */
  readonly #complaints: string[] = []
  /** Origin of the server of the current page; empty without a page. */
  #origin = ''
  /** Whether the page was opened without options. */
  #isPlain = false

  private constructor(server: TestServer, page: Page) {
    this.server = server
    this.#page = page
    page.on('pageerror', this.#onError)
    page.on('console', this.#onMessage)
    page.on('request', this.#onRequest)
  }

  readonly #onError = (error: Error): void => {
    this.#complaints.push(String(error))
  }

  readonly #onMessage = (message: ConsoleMessage): void => {
    // A failed request is not an error of the page, but the browser logs its status as an error.
    const isTold = /status of 4\d\d|ERR_INTERNET_DISCONNECTED/.test(message.text())
    if (message.type() === 'error' && !isTold) this.#complaints.push(message.text())
  }

  readonly #onRequest = (request: Request): void => {
    const { protocol, origin } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== this.#origin)
      this.#complaints.push(request.url())
  }

  /**
   * Opens the console in a page that other tests have used, because creating a page takes
   * seconds.
   */
  static async open(config: Partial<Config>, page: Promise<Page>): Promise<ConsoleWindow> {
    const server = startServer({ adminPort: 0, ...config })
    return new ConsoleWindow(await server, await page)
  }

  /**
   * Closes the server, and fails if the page logged errors or sent requests to other origins. Keeps
   * the page, but clears its state.
   */
  async close(): Promise<void> {
    await this.leave()
    this.#page.off('pageerror', this.#onError)
    this.#page.off('console', this.#onMessage)
    this.#page.off('request', this.#onRequest)
    await this.server.close()
    assert.deepEqual(this.#complaints, [])
  }

  /** The official client, for checking what the console did. */
  db(token = testToken): Db {
    return new DataAPIClient({ environment: 'hcd' }).db(this.server.url, {
      token,
      keyspace: 'default_keyspace',
      timeoutDefaults,
    })
  }

  /** Opens the console without stored state, before sign-in. */
  async fresh(
    hash: string,
    { server = this.server, viewport = usualSize, ...media }: FreshOptions = {},
  ): Promise<Page> {
    const page = this.#page
    await this.leave()
    this.#origin = new URL(server.url).origin
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: null, ...media })
    await page.goto(`${server.url}/console${hash}`)
    return page
  }

  /** Opens the console and signs in. */
  async page(
    hash: string,
    { token = testToken, ...options }: PageOptions = {},
  ): Promise<Page> {
    const page = await this.fresh(hash, options)
    await signIn(page, token)
    this.#isPlain = token === testToken && Object.keys(options).length === 0
    return page
  }

  /** Navigates to a place of the console and keeps its state. */
  async at(hash: string): Promise<Page> {
    if (!this.#isPlain) return this.page(hash)
    await goTo(this.#page, hash)
    return this.#page
  }

  /**
   * Clears the storage of the browser and the memory of the page. Call it before closing a server,
   * because the page keeps polling that server.
   */
  async leave(): Promise<void> {
    this.#isPlain = false
    if (this.#origin === '') return
    await this.#page.context().setOffline(false)
    await this.#page.evaluate('localStorage.clear(); sessionStorage.clear()')
    await this.#page.goto('about:blank')
    this.#origin = ''
  }
}

const usualSize = { width: 1280, height: 720 }

export interface FreshOptions {
  /** The server of the page, instead of the server of the window. */
  readonly server?: TestServer
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce'
}

export interface PageOptions extends FreshOptions {
  readonly token?: string
}

/**
 * Navigates like a link and waits until the console has rendered, so that buttons of the previous
 * page are gone.
 */
export async function goTo(page: Page, hash: string): Promise<void> {
  const wanted = JSON.stringify(hash)
  await page.evaluate(`new Promise((resolve) => {
    if (location.hash === ${wanted}) return resolve()
    addEventListener('hashchange', () => resolve(), { once: true })
    location.hash = ${wanted}
  })`)
}

export async function signIn(page: Page, token = testToken): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(token)
  await page.keyboard.press('Enter')
  await page.locator('.frame').waitFor()
}

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const allRules = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']"
/** The only rule whose result depends on the theme. */
const colourRules = "{ type: 'rule', values: ['color-contrast'] }"

/** Fails with all violations of WCAG AA on the page. */
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
