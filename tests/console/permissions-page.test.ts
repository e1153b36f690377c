/** The console with tokens of limited permissions, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startServer, testToken } from '../harness.ts'
import { assertAccessible, goTo, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

describe('the console with a limited token', () => {
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

  test('offers only permitted actions', async () => {
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
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), [
      'Copy document as JSON',
      'Copy document as CSV',
    ])
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('The options of a collection').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Drop collection' }).count(), 0)
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByRole('heading', { name: 'Export' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Import' }).count(), 0)
    await page.getByRole('link', { name: 'library' }).click()
    await page.getByRole('cell', { name: 'books' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Create|Drop|sample/ }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Access' }).count(), 0)
  })

  test('opens a target by name when the token cannot list it', async () => {
    const token = await tokenFor('books', ['db-table-select'])
    const page = await console.page('#/', { token })
    await openByName(page, 'books')
    await page.getByText('1–20').waitFor()
    assert.deepEqual(await tabsOf(page), [
      'Data',
      'Fields',
      'Query',
      'Search',
      'Map',
      'Files',
    ])
    // The console does not know which searches the target supports, so it sends any search
    // and shows the error of the server.
    await page.getByRole('link', { name: 'Search' }).click()
    await page.getByLabel('Search for').fill('1')
    await page.keyboard.press('Enter')
    await page.getByText('EMBEDDING_SERVICE_NOT_CONFIGURED').first().waitFor()
  })

  test('distinguishes a table from a collection by the reply of the server', async () => {
    const columns = { id: 'int', note: 'text', near: { type: 'vector', dimension: 2 } }
    const definition = { columns, primaryKey: 'id' }
    await console.server.command('/library', { createTable: { name: 'notes', definition } })
    await console.server.command('/library/notes', {
      insertOne: { document: { id: 1, note: 'one', near: [1, 2] } },
    })
    const reader = await console.page('#/', {
      token: await tokenFor('notes', ['db-table-select']),
    })
    await openByName(reader, 'notes')
    await reader.getByRole('grid', { name: 'Rows' }).waitFor()
    assert.deepEqual(await tabsOf(reader), ['Data', 'Fields', 'Query', 'Files'])
    await reader.getByText('table', { exact: true }).waitFor()
    for (const name of ['id', 'note', 'near'])
      await reader.getByRole('columnheader', { name, exact: true }).waitFor()
    await openByName(reader, 'books')
    await reader.getByRole('alert').getByText('UNAUTHORIZED_ACCESS').waitFor()
    // The console changes rows by their primary key. With this token it cannot read which columns
    // form the key.
    const writer = await console.page('#/', {
      token: await tokenFor('notes', ['db-table-select', 'db-table-modify']),
    })
    await openByName(writer, 'notes')
    await writer.getByText('its primary key is unknown').waitFor()
    await assertAccessible(writer)
    assert.equal(await writer.getByRole('checkbox', { name: /^Select/ }).count(), 0)
    await writer.getByRole('button', { name: 'Actions on row' }).click()
    assert.deepEqual(await writer.getByRole('menuitem').allInnerTexts(), [
      'Copy row as JSON',
      'Copy row as CSV',
    ])
    await writer.keyboard.press('Escape')
    await writer.getByRole('button', { name: 'Insert' }).click()
    await dialog(writer).getByRole('heading', { name: 'Insert rows' }).waitFor()
    await dialog(writer).getByText('"note"').waitFor()
    const blind = await console.page('#/', {
      token: await tokenFor('notes', ['db-table-modify']),
    })
    await openByName(blind, 'notes')
    await blind.getByText('table', { exact: true }).waitFor()
  })

  test('opens unlisted targets, and reports targets that do not exist', async () => {
    const { id } = (await admin('GET', 'currentOrg')) as { id: string }
    const drn = `drn:astra:org:${id}:db:*:keyspace:library`
    const token = await tokenOf(
      { resources: [`${drn}:table:notes`], actions: ['db-table-describe'] },
      { resources: [`${drn}:table:*`], actions: ['db-table-select'] },
    )
    const page = await console.page('#/db/home/library/books', { token })
    await page.getByText('1–20').waitFor()
    await goTo(page, '#/db/home/library/nothing')
    await page.getByText('Not found').waitFor()
  })

  test('offers everything when permissions are unknown, and reports why a command fails', async () => {
    const plain = await startServer()
    try {
      const page = await console.page('#/', { server: plain })
      await page.getByText('The management API is off').waitFor()
      await assertAccessible(page)
      await tree(page, 'default_keyspace').click()
      await page.getByRole('button', { name: 'Create collection' }).first().click()
      await dialog(page).getByLabel('Name', { exact: true }).fill('no-name')
      await dialog(page).getByRole('button', { name: 'Create collection' }).click()
      await dialog(page).getByRole('alert').getByText('UNSUPPORTED_SCHEMA_NAME').waitFor()
      await dialog(page).getByLabel('Name', { exact: true }).fill('name')
      await dialog(page).getByRole('button', { name: 'Create collection' }).click()
      await page.getByText('name is empty').waitFor()
      // Makes the server unreachable, and then reachable again.
      await page.context().setOffline(true)
      await page.getByRole('button', { name: 'Refresh' }).last().click()
      await page.getByText('The server cannot be reached.').first().waitFor()
      await page.getByRole('link', { name: 'Query' }).click()
      await page.getByText('The page could not be loaded').waitFor()
      await page.context().setOffline(false)
      await page
        .getByText('The server cannot be reached.')
        .first()
        .waitFor({ state: 'detached' })
      await page.getByText('No query has run yet').waitFor()
    } finally {
      await console.leave()
      await plain.close()
    }
  })

  /** Creates a token that permits these actions on one target, and permits no listing. */
  async function tokenFor(name: string, actions: readonly string[]): Promise<string> {
    const { id } = (await admin('GET', 'currentOrg')) as { id: string }
    const resources = [`drn:astra:org:${id}:db:*:keyspace:library:table:${name}`]
    return tokenOf({ resources, actions })
  }

  async function tokenOf(...policies: readonly object[]): Promise<string> {
    const roles: string[] = []
    for (const policy of policies) {
      const name = `Role ${++roleCount}`
      const role = await admin('POST', 'organizations/roles', { name, policy })
      roles.push((role as { ID: string }).ID)
    }
    const made = await admin('POST', 'clientIdSecrets', { roles })
    return (made as { token: string }).token
  }
  let roleCount = 0

  async function openByName(page: Page, name: string): Promise<void> {
    await goTo(page, '#/')
    await page.getByLabel('Keyspace').fill('library')
    await page.getByLabel('Collection or table', { exact: true }).fill(name)
    await assertAccessible(page)
    await page.keyboard.press('Enter')
  }

  const tabsOf = (page: Page) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()

  async function admin(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${console.server.url}/v2/${path}`, {
      method,
      headers: { Token: testToken, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
})
