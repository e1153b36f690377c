/** From a file to a search: import with a text to search by, and "Make searchable". */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { lettersCollection, LetterModels } from '../commands/letter-models.ts'
import { testToken } from '../harness.ts'
import { assertAccessible, goTo, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

const keyspace = '/default_keyspace'

describe('from a file to a search', () => {
  let console: ConsoleWindow
  let models: LetterModels
  let page: Page
  before(async () => {
    models = await LetterModels.start()
    console = await openConsole({ providers: models.settings })
    const { server } = console
    for (const [name, options] of [
      ['films', lettersCollection],
      ['plain', { lexical: { enabled: false } }],
      ['stored', lettersCollection],
      ['slow', { ...lettersCollection, lexical: { enabled: false } }],
    ] as const)
      await server.command(keyspace, { createCollection: { name, options } })
    const documents = Array.from({ length: 59 }, (_, i) => ({
      ...{ _id: i, title: `Title ${i}`, sku: `S-${i}` },
      description: i === 58 ? '' : `The story of a bee and a banana, number ${i}`,
    }))
    await server.command(`${keyspace}/stored`, { insertMany: { documents } })
    const many = Array.from({ length: 100 }, (_, i) => ({ text: `bab number ${i}` }))
    await server.command(`${keyspace}/slow`, { insertMany: { documents: many } })
  })
  beforeEach(async () => {
    page = await console.at('#/')
  })
  after(async () => {
    await console.close()
    models.close()
  })

  async function open(name: string, tab: string): Promise<void> {
    await goTo(page, `#/db/home/default_keyspace/${name}/${tab}`)
    await page.getByRole('heading', { name, exact: true }).waitFor()
  }

  async function choose(name: string, content: string): Promise<void> {
    const buffer = Buffer.from(content)
    await page
      .getByLabel('File to import')
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
    await page.getByRole('region', { name: 'First records' }).waitFor()
  }

  async function search(text: string): Promise<void> {
    await page.getByRole('searchbox', { name: 'Search for' }).fill(text)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
  }

  test('imports a CSV by the proposed field, and finds its documents by meaning and by words', async () => {
    await open('films', 'files')
    const csv =
      '_id,title,plot,link\n' +
      '1,Ab,"bbb and a bee in the cabin",https://a.example/1\n' +
      '2,Ba,"aaaa banana salad in summer",https://a.example/2\n3,No text,,\n'
    await choose('films.csv', csv)
    const field = page.getByLabel('Search by the text of')
    assert.equal(await field.inputValue(), 'plot')
    await page.getByText('Example: bbb and a bee in the cabin').waitFor()
    await assertAccessible(page)
    await field.selectOption('several fields')
    const template = page.getByLabel('Template')
    assert.equal(await template.inputValue(), '{{title}}. {{plot}}')
    await template.fill('{{title')
    await page.getByText('has no closing }}').waitFor()
    assert(await page.getByRole('button', { name: 'Insert all' }).isDisabled())
    await template.fill('{{title}}: {{plot}}')
    await page.getByText('Example: Ab: bbb and a bee').waitFor()
    await page.getByRole('button', { name: 'Insert all' }).click()
    await page.getByText('3 documents inserted, in').waitFor()
    await page.getByRole('link', { name: 'Search', exact: true }).last().click()
    await search('aaaa banana')
    const meaning = page.getByRole('region', { name: 'By meaning' })
    await meaning.getByText('Ba: aaaa banana salad in summer').first().waitFor()
    const words = page.getByRole('region', { name: 'By words' })
    await words.getByText('1 result').waitFor()
    const { body } = await console.server.command(`${keyspace}/films`, {
      findOne: { filter: { _id: 1 }, projection: { $vectorize: 1, plot: 1 } },
    })
    assert.deepEqual(body.data!.document, {
      _id: 1,
      plot: 'bbb and a bee in the cabin',
      $vectorize: 'Ab: bbb and a bee in the cabin',
    })
  })

  test('imports without a text to search by if the user chooses nothing, or the collection searches none', async () => {
    await open('films', 'files')
    await choose('more.jsonl', '{"_id":"x","plot":"two words"}')
    await page.getByLabel('Search by the text of').selectOption('nothing')
    await page.getByRole('button', { name: 'Insert all' }).click()
    await page.getByText('1 document inserted, in').waitFor()
    const { body } = await console.server.command(`${keyspace}/films`, {
      findOne: { filter: { _id: 'x' }, projection: { '*': 1 } },
    })
    assert.deepEqual(body.data!.document, { _id: 'x', plot: 'two words' })
    await open('plain', 'files')
    await choose('plain.jsonl', '{"_id":"x","plot":"two words"}')
    assert.equal(await page.getByLabel('Search by the text of').count(), 0)
  })

  test('says why a search finds nothing, and makes existing documents searchable', async () => {
    await open('stored', 'search')
    await search('bee')
    const meaning = page.getByRole('region', { name: 'By meaning' })
    await meaning.getByText('None of the 59 documents has a vector.').waitFor()
    await page
      .getByRole('region', { name: 'By words' })
      .getByText('None of the first 20 documents has a text for searches by words.')
      .waitFor()
    await assertAccessible(page)
    await meaning.getByRole('button', { name: 'Make searchable …' }).click()
    const dialog = page.getByRole('dialog')
    const field = dialog.getByLabel('Search by the text of')
    assert.equal(await field.inputValue(), 'description')
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Make searchable' }).click()
    await dialog.getByText('58 documents embedded, 1 without a text, in').waitFor()
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await search('bee')
    await meaning.getByText('10 results').waitFor()
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.click()
    await page.keyboard.insertText('{"sku": "none"}')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await meaning.getByText('No document matches the filter.').waitFor()
  })

  test('shows progress, stops, and continues with the documents that are left', async () => {
    await open('slow', 'search')
    // Slows the first updates down, and holds the others until the run is being stopped.
    const { promise: isStopping, resolve: release } = Promise.withResolvers<undefined>()
    let updates = 0
    await page.route('**/slow', async (route) => {
      if (route.request().postData()?.startsWith('{"findOneAndUpdate"') === true)
        await (++updates > 60 ? isStopping : page.waitForTimeout(50))
      await route.continue()
    })
    await page.getByRole('button', { name: 'Make searchable' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Make searchable' }).click()
    await dialog.getByText(/of 100 read · [\d,]+ a second · .* left/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Documents are being made searchable').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    release(undefined)
    await page
      .getByText('Documents are being made searchable')
      .waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Make searchable' }).click()
    await dialog.getByText('Stopped').waitFor()
    const said = await dialog.getByText(/documents embedded, in/).innerText()
    const first = Number(/^(\d+) documents/.exec(said)![1])
    assert(first > 0 && first < 100)
    await page.unroute('**/slow')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'Make searchable' }).click()
    await dialog
      .getByText(`${100 - first} documents embedded, ${first} searchable before, in`)
      .waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
  })

  test('offers it only to tokens that may write', async () => {
    const manage = async (path: string, init: RequestInit = {}): Promise<unknown> => {
      const headers = {
        Authorization: `Bearer ${testToken}`,
        'Content-Type': 'application/json',
      }
      const reply = await fetch(`${console.server.adminUrl}/v2/${path}`, {
        ...init,
        headers,
      })
      return reply.json()
    }
    const roles = (await manage('organizations/roles')) as { Name: string; ID: string }[]
    const readOnly = roles.find(({ Name }) => Name === 'API RO User')!
    const body = JSON.stringify({ roles: [readOnly.ID] })
    const { token } = (await manage('clientIdSecrets', { method: 'POST', body })) as {
      token: string
    }
    page = await console.page('#/db/home/default_keyspace/films/search', { token })
    await search('bee')
    await page
      .getByRole('region', { name: 'By meaning' })
      .getByText(/result/)
      .first()
      .waitFor()
    assert.equal(await page.getByRole('button', { name: /Make searchable/ }).count(), 0)
  })
})
