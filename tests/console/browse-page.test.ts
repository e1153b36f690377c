/** Signing in, looking around, creating and dropping, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startServer, testToken } from '../harness.ts'
import { noBrowser } from '../http/browser.ts'
import { assertAccessible, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

describe('the frame of the console', { skip: noBrowser }, () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
    await console.server.command('', { createKeyspace: { name: 'library' } })
    await console.server.command('/library', { createCollection: { name: 'books' } })
    const documents = Array.from({ length: 25 }, (_, n) => ({ n }))
    await console.server.command('/library/books', { insertMany: { documents } })
  })
  after(() => console.close())

  /** One window for what needs no other: loading the page takes most of a test. */
  let shared: Page | undefined
  const at = async (hash: string): Promise<Page> => {
    if (shared === undefined) return (shared = await console.page(hash))
    await shared.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    return shared
  }

  const tree = (page: Page, name: string | RegExp) => page.getByRole('treeitem', { name })
  const dialog = (page: Page) => page.getByRole('dialog')
  const submit = async (page: Page, name: string) => {
    await dialog(page).getByRole('button', { name, exact: true }).click()
    await dialog(page).waitFor({ state: 'detached' })
  }

  test('asks for a token, keeps it if told to, and never in an address', async () => {
    const context = await console.browser.newContext()
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${console.server.url}/console`)
    const token = page.getByRole('textbox', { name: 'Token' })
    await token.fill('wrong-token')
    await assertAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('UNAUTHENTICATED_REQUEST').waitFor()
    await token.fill(testToken)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Databases' }).waitFor()
    await page.reload()
    await token.fill(testToken)
    await page.getByLabel('Keep it for this tab').check()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await tree(page, /^books/).click()
    await page.getByText('1–20 of 25').waitFor()
    await page.reload()
    await page.getByText('1–20 of 25').waitFor()
    assert.deepEqual(
      asked.filter((url) => url.includes(testToken)),
      [],
    )
    assert.equal(await page.evaluate('localStorage.length'), 0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await token.waitFor()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await context.close()
  })

  test('shows what there is in a tree, by keyboard too, light and dark', async () => {
    const page = await console.page('#/', { viewport: { width: 1100, height: 700 } })
    await tree(page, /^books.*25/).waitFor()
    await tree(page, 'stela').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowLeft')
    await tree(page, /^books/).waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'books' }).waitFor()
    await page.getByLabel('Find a collection or table').fill('nothing')
    assert.equal(await tree(page, /^books/).count(), 0)
    await page.getByLabel('Find a collection or table').fill('')
    const background = () =>
      page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByLabel('Theme').selectOption('dark')
    assert.notEqual(await background(), light)
    await page.goto(`${console.server.url}/console#/db/home/library`)
    await page.getByRole('cell', { name: 'books' }).waitFor()
    await page.setViewportSize({ width: 800, height: 600 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 800)
    await page.getByRole('button', { name: 'Show the tree' }).click()
    await tree(page, /^books/).waitFor()
    await assertAccessible(page)
    await page.context().close()
  })

  test('creates and drops databases and keyspaces', async () => {
    const page = await at('#/')
    await page.getByRole('button', { name: 'Create database' }).click()
    await dialog(page).getByLabel('Name', { exact: true }).fill('shop')
    await dialog(page).getByLabel('First keyspace').fill('main')
    await assertAccessible(page)
    await submit(page, 'Create database')
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    await page.getByRole('button', { name: 'Create keyspace' }).click()
    await dialog(page).getByLabel('Name', { exact: true }).fill('second')
    assert.match(
      await dialog(page).locator('pre').innerText(),
      /"createKeyspace": \{ "name": "second" \}/,
    )
    await submit(page, 'Create keyspace')
    await page.getByText('second is empty').waitFor()
    // A collection of another database than the home.
    await page.getByRole('button', { name: 'Create collection' }).first().click()
    await dialog(page).getByLabel('Name', { exact: true }).fill('orders')
    await submit(page, 'Create collection')
    await page.getByText('orders is empty').waitFor()
    const id = /#\/db\/([\w-]{36})\//.exec(page.url())![1]!
    const { body } = await console.server.send(`/databases/${id}/v1/second`, {
      method: 'POST',
      headers: { Token: testToken, 'Content-Type': 'application/json' },
      body: '{"findCollections": {}}',
    })
    assert.deepEqual(body.status!['collections'], ['orders'])
    await at(`#/db/${id}/second`)
    await page.getByRole('button', { name: 'Drop keyspace' }).click()
    const drop = dialog(page).getByRole('button', { name: 'Drop second' })
    assert(await drop.isDisabled())
    await dialog(page).getByLabel('Type second to confirm').fill('second')
    await drop.click()
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    assert.equal(await page.getByRole('cell', { name: 'second' }).count(), 0)
    await page.getByRole('button', { name: 'Terminate' }).click()
    await dialog(page).getByLabel('Type shop to confirm').fill('shop')
    await submit(page, 'Terminate shop')
    await tree(page, 'shop').waitFor({ state: 'detached' })
  })

  test('creates collections with every option, and drops them', async () => {
    const page = await at('#/db/home/library')
    await page.getByRole('button', { name: 'Create collection' }).click()
    const form = dialog(page)
    const pick = (group: string, name: string) =>
      form
        .getByRole('group', { name: group, exact: true })
        .getByRole('button', { name })
        .click()
    await form.getByLabel('Name', { exact: true }).fill('everything')
    await pick('Vectors', 'A model makes them')
    await form.getByLabel('Provider').selectOption('openai')
    await form.getByLabel('Model', { exact: true }).selectOption('text-embedding-3-small')
    await form.getByLabel('Dimension').fill('64')
    await form.getByLabel('Metric').selectOption('dot_product')
    await form.getByLabel('Source model').selectOption('openai-v3-small')
    await pick('Search by words', 'On')
    await form.getByLabel('Analyzer').selectOption('english')
    await pick('Reranking', 'Off')
    await pick('Indexing', 'All but these')
    await form.getByLabel('Paths').fill('payload\nraw.bytes')
    await form.getByLabel(/Where a document/).selectOption('uuidv7')
    await assertAccessible(page)
    const shown = await form.locator('pre').innerText()
    await submit(page, 'Create collection')
    await page.getByText('everything is empty').waitFor()
    const db = console.db()
    const made = (await db.listCollections({ keyspace: 'library' })).find(
      ({ name }) => name === 'everything',
    )!.definition
    assert.deepEqual(made.vector, {
      dimension: 64,
      metric: 'dot_product',
      sourceModel: 'openai-v3-small',
      service: { provider: 'openai', modelName: 'text-embedding-3-small' },
    })
    assert.deepEqual(made.indexing, { deny: ['payload', 'raw.bytes'] })
    assert.deepEqual(made.lexical, { enabled: true, analyzer: 'english' })
    assert.deepEqual(made.defaultId, { type: 'uuidv7' })
    // What was shown is what was sent: sent again, it is the same collection.
    const again = await console.server.command('/library', shown)
    assert.deepEqual(again.body.status, { ok: 1 })
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Drop collection' }).click()
    await form.getByLabel('Type everything to confirm').fill('everything')
    await form.getByRole('button', { name: 'Drop everything' }).click()
    await page.getByRole('heading', { name: 'library' }).waitFor()
    assert.deepEqual(await db.listCollections({ keyspace: 'library', nameOnly: true }), [
      'books',
    ])
  })

  test('creates types, tables and indexes, adds and drops columns', async () => {
    const page = await at('#/db/home/library')
    const form = dialog(page)
    const column = async (position: number, name: string, type: string) => {
      await form.getByLabel(`Column ${position}`, { exact: true }).fill(name)
      await form
        .getByLabel('Type', { exact: true })
        .nth(position - 1)
        .selectOption(type)
    }
    const add = () => form.getByRole('button', { name: 'Add a column' }).click()
    await page.getByRole('button', { name: 'Create type' }).click()
    await form.getByLabel('Name', { exact: true }).fill('address')
    await form.getByLabel('Field 1', { exact: true }).fill('town')
    await submit(page, 'Create type')
    await page.getByRole('cell', { name: 'town: text' }).waitFor()
    await page.getByRole('button', { name: 'Change type address' }).click()
    await form.getByLabel('town').fill('city')
    await form.getByRole('button', { name: 'Add a field' }).click()
    await form.getByLabel('Field 1', { exact: true }).fill('zip')
    await form.getByLabel('Type', { exact: true }).selectOption('int')
    await assertAccessible(page)
    await submit(page, 'Change type')
    await page.getByRole('cell', { name: 'city: text, zip: int' }).waitFor()
    await page.getByRole('button', { name: 'Create table' }).click()
    await form.getByLabel('Name', { exact: true }).fill('loans')
    await column(1, 'member', 'uuid')
    for (const [position, name, type] of [
      [2, 'at', 'timestamp'],
      [3, 'counts', 'map'],
      [4, 'near', 'vector'],
      [5, 'home', 'userDefined'],
      [6, 'book', 'text'],
    ] as const) {
      await add()
      await column(position, name, type)
    }
    await form.getByLabel('Key', { exact: true }).nth(1).selectOption('descending')
    await form.getByLabel('Type of values').selectOption('int')
    await form.getByLabel('Dimension').fill('3')
    await assertAccessible(page)
    await submit(page, 'Create table')
    await page.getByText('loans is empty').waitFor()
    const loans = console.db().table('loans', { keyspace: 'library' })
    await page.getByRole('link', { name: 'Settings' }).click()
    for (const [kind, name, of] of [
      ['By words', 'loans_words', 'book'],
      ['By vector', 'loans_near', 'near'],
    ] as const) {
      await page.getByRole('button', { name: 'Create index' }).click()
      await form.getByRole('button', { name: kind }).click()
      await form.getByLabel('Name', { exact: true }).fill(name)
      await form.getByLabel('Column', { exact: true }).selectOption(of)
      await submit(page, 'Create index')
      await page.getByRole('cell', { name, exact: true }).waitFor()
    }
    await page.getByRole('button', { name: 'Add columns' }).click()
    await column(1, 'days', 'int')
    await submit(page, 'Add columns')
    await page.getByRole('cell', { name: 'days', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Choose a model' }).click()
    await form.getByLabel('Provider').selectOption('openai')
    await submit(page, 'Use this model')
    await page.getByRole('cell', { name: 'vector<3> by openai' }).waitFor()
    const service = async () => {
      const near = (await loans.definition()).columns['near'] as { service?: unknown }
      return near.service
    }
    assert.deepEqual(await service(), {
      provider: 'openai',
      modelName: 'text-embedding-3-small',
    })
    await page.getByRole('button', { name: 'No model' }).click()
    await submit(page, 'Take it away')
    await page.getByRole('cell', { name: 'vector<3>', exact: true }).waitFor()
    assert.equal(await service(), undefined)
    await page.getByRole('button', { name: 'Drop column counts' }).click()
    await form.getByLabel('Type counts to confirm').fill('counts')
    await submit(page, 'Drop counts')
    await page.getByRole('button', { name: 'Drop index loans_words' }).click()
    await submit(page, 'Drop loans_words')
    await page
      .getByRole('cell', { name: 'loans_words', exact: true })
      .waitFor({ state: 'detached' })
    const { columns, primaryKey } = await loans.definition()
    assert.deepEqual(Object.keys(columns).toSorted(), [
      'at',
      'book',
      'days',
      'home',
      'member',
      'near',
    ])
    assert.deepEqual(primaryKey, { partitionBy: ['member'], partitionSort: { at: -1 } })
    const indexes = await loans.listIndexes({ nameOnly: true })
    assert.deepEqual(indexes, ['loans_near'])
    await page.getByRole('button', { name: 'Drop table' }).click()
    await form.getByLabel('Type loans to confirm').fill('loans')
    await form.getByRole('button', { name: 'Drop loans' }).click()
    await page.getByRole('button', { name: 'Drop type address' }).click()
    await submit(page, 'Drop address')
    await page.getByRole('cell', { name: /^city: text/ }).waitFor({ state: 'detached' })
  })

  test('has pages that are accessible in both themes, and fit 800 pixels', async () => {
    const table = { columns: { id: 'int', note: 'text' }, primaryKey: 'id' }
    await console.server.command('/library', {
      createTable: { name: 'rows', definition: table },
    })
    await console.server.command('/library/rows', {
      insertOne: { document: { id: 1, note: 'one' } },
    })
    const page = await console.page('#/', { viewport: { width: 800, height: 600 } })
    const library = '#/db/home/library'
    for (const [hash, shown] of [
      ['#/', 'the home database'],
      ['#/db/home', 'default_keyspace'],
      [library, 'Documents or rows'],
      [`${library}/books/data`, '1–20'],
      [`${library}/books/query`, 'Nothing was run yet'],
      [`${library}/books/settings`, 'Drop collection'],
      [`${library}/rows/settings`, 'Create index'],
    ] as const)
      for (const theme of ['light', 'dark']) {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
        await page.locator('main').getByText(shown).first().waitFor()
        await page.getByLabel('Theme').selectOption(theme)
        await assertAccessible(page, theme === 'light' ? 'all' : 'colours')
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 800)
      }
    await page.context().close()
  })

  test('offers only what the token may do', async () => {
    const roles = await admin('GET', 'organizations/roles')
    const readOnly = (roles as { Name: string; ID: string }[]).find(
      ({ Name }) => Name === 'API RO User',
    )!
    const made = await admin('POST', 'clientIdSecrets', { roles: [readOnly.ID] })
    const { token } = made as { token: string }
    const page = await console.page('#/db/home/library/books/data', { token })
    await page.getByText('1–20').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Insert' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Delete all' }).count(), 0)
    assert.equal(await page.getByRole('checkbox', { name: /^Select/ }).count(), 0)
    await page
      .getByRole('button', { name: /^Actions on/ })
      .first()
      .click()
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Copy document'])
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('The settings of a collection').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Drop collection' }).count(), 0)
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByRole('heading', { name: 'Take out' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Bring in' }).count(), 0)
    await page.getByRole('link', { name: 'library' }).click()
    await page.getByRole('cell', { name: 'books' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Create|Drop|sample/ }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Access' }).count(), 0)
    await page.context().close()
  })

  test('opens by its name what no list tells the token of', async () => {
    const { id } = (await admin('GET', 'currentOrg')) as { id: string }
    const role = await admin('POST', 'organizations/roles', {
      name: 'Reader of books',
      policy: {
        resources: [`drn:astra:org:${id}:db:*:keyspace:library:table:books`],
        actions: ['db-table-select'],
      },
    })
    const roles = [(role as { ID: string }).ID]
    const made = await admin('POST', 'clientIdSecrets', { roles })
    const { token } = made as { token: string }
    const page = await console.page('#/', { token })
    await page.getByLabel('Keyspace').fill('library')
    await page.getByLabel('Collection or table', { exact: true }).fill('books')
    await assertAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByText('1–20').waitFor()
    const tabs = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    assert.deepEqual(await tabs.allInnerTexts(), ['Data', 'Query', 'Search', 'Files'])
    await page.context().close()
  })

  test('offers everything where nobody can tell, and says why something fails', async () => {
    const plain = await startServer()
    try {
      const page = await console.page('#/', { server: plain })
      await page.getByText('The management API is switched off').waitFor()
      await assertAccessible(page)
      await tree(page, 'default_keyspace').click()
      await page.getByRole('button', { name: 'Create collection' }).first().click()
      await dialog(page).getByLabel('Name', { exact: true }).fill('no-name')
      await dialog(page).getByRole('button', { name: 'Create collection' }).click()
      await dialog(page).getByRole('alert').getByText('UNSUPPORTED_SCHEMA_NAME').waitFor()
      await dialog(page).getByLabel('Name', { exact: true }).fill('name')
      await submit(page, 'Create collection')
      await page.getByText('name is empty').waitFor()
      // The server goes away, and comes back.
      await page.context().setOffline(true)
      await page.getByRole('button', { name: 'Refresh' }).last().click()
      await page.getByText('The server does not answer.').first().waitFor()
      await page.getByRole('link', { name: 'Query' }).click()
      await page.getByText('The page could not be loaded').waitFor()
      await page.context().setOffline(false)
      await page
        .getByText('The server does not answer.')
        .first()
        .waitFor({ state: 'detached' })
      await page.getByText('Nothing was run yet').waitFor()
      await page.context().close()
    } finally {
      await plain.close()
    }
  })

  async function admin(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${console.server.url}/v2/${path}`, {
      method,
      headers: { Token: testToken, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
})
