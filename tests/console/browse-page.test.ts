/** Signing in, browsing, and creating and dropping targets, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { startServer, testToken } from '../harness.ts'
import { assertAccessible, goTo, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

describe('the console', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
    await console.server.command('', { createKeyspace: { name: 'library' } })
    await console.server.command('/library', { createCollection: { name: 'books' } })
    const documents = Array.from({ length: 25 }, (_, n) => ({ n }))
    await console.server.command('/library/books', { insertMany: { documents } })
  })
  after(() => console.close())

  const tree = (page: Page, name: string | RegExp) => page.getByRole('treeitem', { name })
  const dialog = (page: Page) => page.getByRole('dialog')
  const submit = async (page: Page, name: string) => {
    await dialog(page).getByRole('button', { name, exact: true }).click()
    await dialog(page).waitFor({ state: 'detached' })
  }

  test('asks for a token, stores the token only if the user chooses so, and never puts it in a URL', async () => {
    const page = await console.fresh('')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
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
  })

  test('shows a tree of targets with keyboard navigation, in both themes', async () => {
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
    await page.getByRole('button', { name: 'Show the menu' }).click()
    await tree(page, /^books/).waitFor()
    await assertAccessible(page)
  })

  test('starts with useful links, and lists more databases than a page of the API contains', async () => {
    const empty = await startServer({ adminPort: 0, databasesMax: 120 })
    try {
      const page = await console.page('#/', { server: empty })
      await page.getByText('No data yet').waitFor()
      await page.getByRole('link', { name: 'Access' }).waitFor()
      const links = await page.evaluate<string[]>(
        "Array.from(document.querySelectorAll('a'), (link) => link.getAttribute('href'))",
      )
      assert.deepEqual([...new Set(links)].toSorted(), [
        ...['#/', '#/access', '#/db/home', '#/db/home/default_keyspace'],
        ...['#/operate', '#main'],
      ])
      for (const [name, heading] of [
        ['Create a collection', 'default_keyspace'],
        ['Stela: all databases', 'Databases'],
        ['Operate', 'Operate'],
        ['Access', 'Access'],
        ['Data', 'Databases'],
      ] as const) {
        await page.getByRole('link', { name, exact: true }).click()
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      }
      await page.locator('main').getByRole('link', { name: 'stela' }).click()
      await page.getByRole('heading', { name: 'stela', level: 1 }).waitFor()
      const names = Array.from({ length: 105 }, (_, n) => `shop${n}`)
      for (const name of names) {
        const { http } = await empty.send('/v2/databases', {
          method: 'POST',
          headers: { Token: testToken, 'Content-Type': 'application/json' },
          body: JSON.stringify({ name }),
        })
        assert.equal(http, 201)
      }
      await page.getByRole('button', { name: 'Refresh' }).click()
      // The tree renders only visible lines.
      await tree(page, 'shop0').waitFor()
      await page.evaluate("document.querySelector('[role=tree]').scrollTop = 1e9")
      await tree(page, 'shop104').click()
      await page.getByRole('heading', { name: 'shop104' }).waitFor()
      await page.getByRole('link', { name: 'Data', exact: true }).click()
      await page.getByRole('heading', { name: 'Databases', level: 1 }).waitFor()
      const shown = page.locator('main').getByRole('link')
      assert.deepEqual(
        (await shown.allInnerTexts()).toSorted(),
        ['stela', ...names].toSorted(),
      )
    } finally {
      await console.leave()
      await empty.close()
    }
  })

  test('creates and drops databases and keyspaces', async () => {
    const page = await console.at('#/')
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
    // This collection is not in the home database.
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
    await console.at(`#/db/${id}/second`)
    await page.getByRole('button', { name: 'Drop keyspace' }).click()
    const drop = dialog(page).getByRole('button', { name: 'Drop second' })
    assert(await drop.isDisabled())
    await dialog(page).getByLabel('Type second to confirm').fill('second')
    await drop.click()
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    await page.getByRole('cell', { name: 'second' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Terminate' }).click()
    await dialog(page).getByLabel('Type shop to confirm').fill('shop')
    await submit(page, 'Terminate shop')
    await tree(page, 'shop').waitFor({ state: 'detached' })
  })

  test('shows the result of the latest request even when an earlier request is answered last', async () => {
    const page = await console.at('#/')
    await tree(page, 'library').waitFor()
    const refresh = page.getByRole('button', { name: 'Refresh' }).first()
    const isOfKeyspaces = (url: URL) => url.pathname === '/v1'
    const caught = Promise.withResolvers<Route>()
    const released = Promise.withResolvers<unknown>()
    await page.route(
      isOfKeyspaces,
      async (route) => {
        const response = await route.fetch()
        caught.resolve(route)
        await released.promise
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await refresh.click()
    const route = await caught.promise
    await console.server.command('', { createKeyspace: { name: 'newer' } })
    await refresh.click()
    await tree(page, 'newer').waitFor()
    released.resolve(undefined)
    await (await route.request().response())!.finished()
    // The reply has arrived, but the page may not be rendered yet.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
    assert.equal(await tree(page, 'newer').count(), 1)
    await console.server.command('', { dropKeyspace: { name: 'newer' } })
  })

  test('creates collections with every option, and drops collections', async () => {
    const page = await console.at('#/db/home/library')
    await page.getByRole('button', { name: 'Create collection' }).click()
    const form = dialog(page)
    const pick = (group: string, name: string) =>
      form
        .getByRole('group', { name: group, exact: true })
        .getByRole('button', { name })
        .click()
    await form.getByLabel('Name', { exact: true }).fill('everything')
    await pick('Vectors', 'A model embeds texts')
    await form.getByLabel('Provider').selectOption('openai')
    await form.getByLabel('Model', { exact: true }).selectOption('text-embedding-3-small')
    await form.getByLabel('Dimension').fill('64')
    await form.getByLabel('Metric').selectOption('dot_product')
    await form.getByLabel('Source model').selectOption('openai-v3-small')
    await pick('Search by words', 'On')
    await form.getByLabel('Analyzer').selectOption('english')
    await pick('Reranking', 'Off')
    await pick('Indexing', 'All except these')
    await form.getByLabel('Paths').fill('payload\nraw.bytes')
    await form.getByLabel('Type of generated _id values').selectOption('uuidv7')
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
    // The shown command equals the sent command: it succeeds again, with the same settings.
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

  test('offers yes, no and unset for a boolean parameter of a provider', async () => {
    const page = await console.at('#/db/home/library')
    const form = dialog(page)
    for (const [name, model, label, parameters] of [
      ['voyageAI', 'voyage-2', 'Auto truncate (optional)', { autoTruncate: false }],
      ['jinaAI', 'jina-embeddings-v3', 'late_chunking (optional)', { late_chunking: true }],
    ] as const) {
      await goTo(page, '#/db/home/library')
      await page.getByRole('button', { name: 'Create collection' }).click()
      await form.getByLabel('Name', { exact: true }).fill(name)
      await form.getByRole('button', { name: 'A model embeds texts' }).click()
      await form.getByLabel('Provider').selectOption(name)
      await form.getByLabel('Model', { exact: true }).selectOption(model)
      const asked = form.getByLabel(label)
      await asked.waitFor()
      assert.match(
        (await asked.locator('option').allInnerTexts()).join(),
        /^default: \w+,true,false$/,
      )
      const given = Object.values(parameters)[0]
      await asked.selectOption(String(!given))
      await asked.selectOption('')
      assert.doesNotMatch(await form.locator('pre').innerText(), /parameters/)
      await asked.selectOption(String(given))
      await submit(page, 'Create collection')
      await page.getByText(`${name} is empty`).waitFor()
      const made = await console.db().collection(name, { keyspace: 'library' }).options()
      assert.deepEqual(made.vector!.service!.parameters, parameters)
      await console.db().dropCollection(name, { keyspace: 'library' })
    }
  })

  test('creates types, tables and indexes, adds and drops columns', async () => {
    const page = await console.at('#/db/home/library')
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
    await page.getByRole('button', { name: 'Alter type address' }).click()
    await form.getByLabel('town').fill('city')
    await form.getByRole('button', { name: 'Add a field' }).click()
    await form.getByLabel('Field 1', { exact: true }).fill('zip')
    await form.getByLabel('Type', { exact: true }).selectOption('int')
    await assertAccessible(page)
    await submit(page, 'Alter type')
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
    await form.getByLabel('Value type').selectOption('int')
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
    await page.getByRole('button', { name: 'Remove the model' }).click()
    await submit(page, 'Remove')
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

  test('has pages that are accessible in both themes and fit 800 pixels', async () => {
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
      ['#/', 'home database, at the path'],
      ['#/db/home', 'default_keyspace'],
      [library, 'Documents or rows'],
      [`${library}/books/data`, '1–20'],
      [`${library}/books/query`, 'No query has run yet'],
      [`${library}/books/settings`, 'Drop collection'],
      [`${library}/rows/settings`, 'Create index'],
    ] as const)
      for (const theme of ['light', 'dark']) {
        await goTo(page, hash)
        await page.locator('main').getByText(shown).first().waitFor()
        await page.getByLabel('Theme').selectOption(theme)
        await assertAccessible(page, theme === 'light' ? 'all' : 'colours')
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 800)
      }
  })
})
