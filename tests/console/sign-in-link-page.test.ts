/** Signing in by a link that the server printed, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertAccessible, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

describe('a sign-in link', () => {
  let console: ConsoleWindow
  before(async () => {
    console = await openConsole()
  })
  after(() => console.close())

  const hashOfLink = () => new URL(console.server.createSignInLink!()).hash

  test('signs in, also after a reload, and leaves the code in no URL', async () => {
    const hash = hashOfLink()
    const page = await console.fresh('')
    const asked: string[] = []
    page.on('request', (request) => {
      asked.push(request.url(), JSON.stringify(request.headers()))
    })
    await console.fresh(hash)
    await page.getByRole('heading', { name: 'Databases' }).waitFor()
    assert.equal(new URL(page.url()).hash, '#/')
    await page.reload()
    await page.getByRole('heading', { name: 'Databases' }).waitFor()
    const code = hash.slice('#sign-in='.length)
    // Playwright reports the fragment of a page's own URL, which the browser does not send.
    const sent = asked.filter((text) => text.includes(code) && !text.endsWith(hash))
    assert.deepEqual(sent, [])
  })

  test('shows an error and the form when the link was used before', async () => {
    const hash = hashOfLink()
    const page = await console.fresh(hash)
    await page.getByRole('heading', { name: 'Databases' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await page.getByRole('alert').getByText('was used before').waitFor()
    assert.equal(new URL(page.url()).hash, '#/')
    await page.getByRole('textbox', { name: 'Token' }).waitFor()
    await assertAccessible(page)
  })
})
