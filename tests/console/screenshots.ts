/**
 * Creates the screenshots of docs/console.md. Run `npm run build` first, then `node
 * --disable-warning=ExperimentalWarning tests/console/screenshots.ts`.
 */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { testToken } from '../harness.ts'
import { launchBrowser } from '../http/browser.ts'
import { ConsoleWindow } from './console-window.ts'

const folder = new URL('../../docs/images/', import.meta.url)

/** Maximum size of a picture in bytes, so that pages of the documentation load fast. */
const sizeMax = 150_000

const home = '#/db/home/default_keyspace'
const place = `${home}/sample_places`
const viewport = { width: 1180, height: 720 }

const browser = launchBrowser()
const window = await ConsoleWindow.open(
  { slowCommandMs: 40 },
  browser.then((launched) => launched.newPage()),
)
try {
  const page = await window.page(home, { viewport, colorScheme: 'light' })
  await makeData()
  await page.getByRole('button', { name: 'Load sample data' }).first().click()
  await page.getByRole('grid').waitFor({ timeout: 120_000 })
  await page.getByRole('button', { name: 'Refresh' }).first().click()
  await picture(page, 'data')
  await page.evaluate(go(home))
  await page.getByRole('button', { name: 'Create collection' }).first().click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name', { exact: true }).fill('reviews')
  await form.getByRole('button', { name: 'A model embeds texts' }).click()
  await form.getByLabel('Provider').selectOption('local')
  await picture(page, 'create')
  await page.keyboard.press('Escape')
  await page.evaluate(go(`${place}/query`))
  await page
    .getByRole('textbox', { name: 'Filter' })
    .fill('{"kind": "garden", "rating": {"$gt": 4}}')
  await page.getByRole('textbox', { name: 'Sort' }).fill('{"rating": -1}')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('grid').waitFor()
  await page.getByRole('button', { name: 'As code' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'TypeScript' }).click()
  await picture(page, 'code')
  await page.keyboard.press('Escape')
  await search(page)
  await map(page)
  await files(page)
  await operate(page)
  await access(page)
} finally {
  await window.close()
  await (await browser).close()
}

function go(hash: string): string {
  return `location.hash = ${JSON.stringify(hash)}`
}

async function picture(page: Page, name: string): Promise<void> {
  const path = fileURLToPath(new URL(`console-${name}.png`, folder))
  await page.mouse.move(0, 0)
  // Waits for messages that are about to appear or disappear. Hides the caret, because it blinks.
  await page.waitForTimeout(400)
  await page.screenshot({ path, caret: 'hide' })
  const { size } = statSync(path)
  assert(size <= sizeMax, `${path} has ${size} bytes`)
}

/** Creates more collections, so that the pictures show several. */
async function makeData(): Promise<void> {
  const { server } = window
  for (const [name, count] of [
    ['customers', 480],
    ['orders', 1_900],
    ['events', 60],
  ] as const) {
    await server.command('/default_keyspace', { createCollection: { name } })
    for (let from = 0; from < count; from += 100) {
      const documents = Array.from({ length: Math.min(100, count - from) }, (_, i) => ({
        number: from + i,
        city: ['Lisbon', 'Oslo', 'Quito'][i % 3],
      }))
      await server.command(`/default_keyspace/${name}`, { insertMany: { documents } })
    }
  }
  const columns = { station: 'text', at: 'timestamp', celsius: 'double' }
  const primaryKey = { partitionBy: ['station'], partitionSort: { at: -1 } }
  await server.command('/default_keyspace', {
    createTable: { name: 'measurements', definition: { columns, primaryKey } },
  })
}

async function search(page: Page): Promise<void> {
  await page.setViewportSize({ ...viewport, height: 580 })
  await page.evaluate(go(`${place}/search`))
  await page.getByLabel('Search for').fill('harbour')
  // Searches three times: a search that loads a model shows an unusually long duration.
  for (let turn = 0; turn < 3; turn++) {
    await page.keyboard.press('Enter')
    await page.locator('.search-form [type="submit"][aria-busy="true"]').waitFor()
    await page.locator('.search-form [type="submit"][aria-busy="false"]').waitFor()
  }
  await picture(page, 'search')
  await page.setViewportSize(viewport)
}

async function map(page: Page): Promise<void> {
  await page.evaluate(go(`${place}/map`))
  await page.locator('[data-stage="done"]').waitFor()
  await picture(page, 'map')
}

async function files(page: Page): Promise<void> {
  await page.evaluate(go(`${home}/customers/files`))
  const rows = ['Lisbon', 'Oslo', 'Quito', 'Riga', 'Bern'].map(
    (city, i) => `${i + 1},"Customer ${i + 1}, ${city}",${city},${(i * 17.5).toFixed(2)}`,
  )
  const text = ['id,full name,address.city,balance', ...rows].join('\n')
  await page.getByLabel('File to import').setInputFiles({
    name: 'customers.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(text),
  })
  await page.getByLabel('Field for id').fill('_id')
  await page.getByLabel('Field for full name').fill('name')
  await picture(page, 'files')
}

async function operate(page: Page): Promise<void> {
  await page.evaluate(go('#/operate'))
  const { server } = window
  const until = performance.now() + 30_000
  const load = async () => {
    for (let i = 0; performance.now() < until; i++) {
      const filter = { number: { $gt: i % 500 } }
      const find = { find: { filter, sort: { number: i % 7 === 0 ? -1 : 1 } } }
      const wrong = { find: { filter: { $what: 1 } } }
      await server.command('/default_keyspace/orders', i % 25 === 0 ? wrong : find)
      await page.waitForTimeout(8 + 30 * (1 + Math.sin(performance.now() / 4_000)))
    }
  }
  await Promise.all([load(), load(), load()])
  await picture(page, 'operate')
}

async function access(page: Page): Promise<void> {
  const headers = { Token: testToken, 'Content-Type': 'application/json' }
  const call = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${window.server.adminUrl}/v2/${path}`, {
      headers,
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
    return response.json()
  }
  const { id } = (await call('currentOrg')) as { id: string }
  await call('organizations/roles', {
    name: 'Cart service',
    policy: {
      description: 'Carts of the shop',
      effect: 'allow',
      resources: [`drn:astra:org:${id}:db:*:keyspace:default_keyspace:table:orders`],
      actions: ['db-table-describe', 'db-table-select', 'db-table-modify'],
    },
  })
  const roles = (await call('organizations/roles')) as { ID: string; Name: string }[]
  for (const [description, role, days] of [
    ['Shop, carts', 'Cart service', 90],
    ['Dashboard', 'RO User', 365],
    ['Nightly export', 'RO Svc Acct', undefined],
  ] as const)
    await call('clientIdSecrets', {
      description,
      roles: [roles.find(({ Name }) => Name === role)!.ID],
      ...(days !== undefined && {
        tokenExpiry: new Date(Date.now() + days * 86_400_000).toISOString(),
      }),
    })
  await page.evaluate(go('#/access'))
  await page.getByText('Nightly export').waitFor()
  await picture(page, 'access')
}
