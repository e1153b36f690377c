/** Sample data, the Search page and the Map page, in a real browser. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { vector } from '@datastax/astra-db-ts'
import type { Locator, Page } from 'playwright-core'
import { testToken } from '../harness.ts'
import { runProgram, type Ran } from './code-runs.ts'
import { assertAccessible, goTo, type ConsoleWindow } from './console-window.ts'
import { openConsole } from './shared-browser.ts'

const viewport = { width: 1300, height: 850 }
const markup = '<img src=x onerror="document.title=1">'

describe('the search page of the console', () => {
  let console: ConsoleWindow
  let page: Page
  before(async () => {
    console = await openConsole()
    page = await console.page('#/db/home/default_keyspace', {
      viewport,
      colorScheme: 'light',
      // Disables transitions of colours, so that tests see the final colours.
      reducedMotion: 'reduce',
    })
  })
  after(() => console.close())

  const column = (name: string): Locator => page.getByRole('region', { name, exact: true })

  async function openTab(name: string): Promise<void> {
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name })
      .click()
  }

  /** Types a text and optionally a vector, searches, and waits until all columns have results. */
  async function search(text: string, near = ''): Promise<void> {
    await page.getByLabel('Search for').fill(text)
    await page.getByRole('textbox', { name: 'Vector' }).fill(near)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.locator('.search-form [type="submit"][aria-busy="false"]').waitFor()
  }

  const namesIn = (way: string) => column(way).locator('.result-name').allTextContents()

  test('creates sample data with one click', async () => {
    await page.getByRole('button', { name: 'Load sample data' }).click()
    await page.getByRole('heading', { name: 'sample_places' }).waitFor()
    const places = console.db().collection('sample_places')
    assert.equal(await places.countDocuments({}, 1000), 200)
    const found = await places.findOne({ _id: 'garden-4' })
    assert.equal(found!['name'], 'Moss Garden')
    assert(found!['since'] instanceof Date)
    const options = await places.options()
    assert.equal(options.vector?.service?.provider, 'local')
    assert.equal(options.rerank?.service.provider, 'local')
  })

  test('searches in four search modes, with the same results as the client', async () => {
    await openTab('Search')
    await search('quiet reading', 'garden-4')
    const places = console.db().collection('sample_places')
    const ids = async (sort: Record<string, string>) =>
      (await places.find({}, { sort, limit: 10 }).toArray()).map(({ _id }) => _id)
    assert.deepEqual(
      await namesIn('By meaning'),
      await ids({ $vectorize: 'quiet reading' }),
    )
    assert.deepEqual(await namesIn('By words'), await ids({ $lexical: 'quiet reading' }))
    assert.equal((await namesIn('By vector'))[0], 'garden-4')
    const ranked = await places
      .findAndRerank(
        {},
        { sort: { $hybrid: 'quiet reading' }, limit: 10, hybridLimits: 20 },
      )
      .toArray()
    assert.deepEqual(
      await namesIn('Hybrid'),
      ranked.map(({ document }) => document._id),
    )
  })

  test('explains results, marks words, and links equal results', async () => {
    const first = column('Hybrid').locator('.result').first()
    assert.match(
      (await first.textContent())!,
      /by meaning, .*Ranked 1st by the reranker, with score .*\./,
    )
    const marked = await column('By meaning').locator('mark').allTextContents()
    assert(marked.includes('Reading'))
    const widths = await page.evaluate<number[]>(
      `Array.from(document.querySelectorAll('[aria-label="By meaning"] .score-bar > span'),
        (bar) => bar.getBoundingClientRect().width)`,
    )
    assert.equal(widths.length, 10)
    assert.deepEqual(
      widths,
      widths.toSorted((a, b) => b - a),
    )
    const name = (await first.locator('.result-name').textContent())!
    await first.locator('.result-name').focus()
    assert(await column('By meaning').locator('.linked', { hasText: name }).isVisible())
    const elsewhere = first.getByRole('list', { name: 'Rank in the other searches' })
    assert.match((await elsewhere.textContent())!, /meaning \d+(?:st|nd|rd|th)/)
  })

  test('meets WCAG AA in both themes and fits 800 pixels', async () => {
    await assertAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await assertAccessible(page, 'colours')
    await page.setViewportSize({ width: 800, height: 600 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 800)
    await page.setViewportSize(viewport)
  })

  test('applies a filter, and shows contents of documents as text', async () => {
    const places = console.db().collection('sample_places')
    const long = `needle ${'long'.repeat(1500)}`
    const hostile = {
      _id: markup,
      name: markup,
      kind: 'hostile',
      $hybrid: `needle ${markup}`,
    }
    await places.insertMany([hostile, { _id: long, ['__proto__']: 'p', $hybrid: long }])
    await page.getByRole('textbox', { name: 'Filter' }).fill('{"kind": "hostile"}')
    await search('needle')
    assert.deepEqual(await namesIn('By words'), [markup])
    assert.deepEqual(await namesIn('By meaning'), [markup])
    await page.getByRole('textbox', { name: 'Filter' }).fill('')
    await search('needle')
    assert.equal((await namesIn('By words')).length, 2)
    assert.equal(await page.locator('.search-columns img').count(), 0)
    assert.notEqual(await page.title(), '1')
    await page.getByRole('textbox', { name: 'Filter' }).fill('{"kind": {"$near": 1}}')
    await search('needle')
    assert.match((await column('By words').textContent())!, /FILTER_UNSUPPORTED_OPERATOR/)
    await page.getByRole('textbox', { name: 'Filter' }).fill('')
  })

  test('links to the code and to the document', async () => {
    await search('needle')
    await column('Hybrid').getByRole('button', { name: 'As code' }).click()
    const dialog = page.getByRole('dialog')
    for (const [language, program] of [
      ['curl', 'bash'],
      ['TypeScript', process.execPath],
    ] as const) {
      await dialog.getByRole('button', { name: language }).click()
      const text = (await dialog.locator('pre').textContent())!
      assert.match(text, /findAndRerank/)
      const { out, err } = await runText(program, text)
      assert(out.includes('needle <img'), `${language}: ${out}${err}`)
    }
    await page.keyboard.press('Escape')
    await column('By words').getByRole('button', { name: markup, exact: true }).click()
    await page.locator('.grid-row.document').first().waitFor()
    assert.equal(await page.locator('.grid-row.document').count(), 1)
    await console
      .db()
      .collection('sample_places')
      .deleteMany({ $lexical: { $match: 'needle' } })
  })

  test('shows vectors as coloured points on a map', async () => {
    await openTab('Map')
    await page.locator('[data-stage="done"]').waitFor()
    assert.match(
      (await page.getByRole('status').first().textContent())!,
      /200 vectors of 384/,
    )
    await page.getByLabel('Colour by').selectOption('kind')
    const legend = page.getByRole('region', { name: 'Legend' })
    assert.equal(await legend.getByRole('listitem').count(), 10)
    await page.getByLabel('Colour by').selectOption('price')
    assert.match((await legend.textContent())!, /0 – /)
    const drawn = await page.evaluate<number>(`(() => {
      const canvas = document.querySelector('canvas')
      const { width, height } = canvas
      const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
      const opaque = new Uint32Array(data.buffer).filter((pixel) => pixel >>> 24 > 200)
      return new Set(opaque).size
    })()`)
    assert(drawn > 5)
  })

  test('shows the document whose point is under the pointer', async () => {
    const { x, y, width, height } = (await page.locator('canvas').boundingBox())!
    const pointed = page.locator('.pointed-name')
    // Moves the pointer along the diagonal until a point is under it.
    for (let step = 1; step < 60 && (await pointed.count()) === 0; step++)
      await page.mouse.move(x + (width * step) / 60, y + (height * step) / 60)
    const name = (await pointed.textContent())!
    const document = await console.db().collection('sample_places').findOne({ _id: name })
    const shown = page.getByRole('region', { name: 'The document under the pointer' })
    assert((await shown.textContent())!.includes(document!['about'] as string))
    await page.locator('canvas').focus()
    for (const key of ['+', 'ArrowLeft', '-', '0']) await page.keyboard.press(key)
    await assertAccessible(page)
    await page.emulateMedia({ colorScheme: 'light' })
    await assertAccessible(page)
  })

  /**
   * Draws a lasso around a part of the map, from the left; returns the number of enclosed points.
   */
  async function enclose(share: number): Promise<number> {
    const { x, y, width, height } = (await page.locator('canvas').boundingBox())!
    await page.mouse.move(x + 2, y + 2)
    await page.mouse.down()
    await page.mouse.move(x + width * share, y + 2)
    await page.mouse.move(x + width * share, y + height - 2)
    await page.mouse.move(x + 2, y + height - 2)
    await page.mouse.up()
    const selection = page.getByRole('region', { name: 'Selection' })
    return Number.parseInt((await selection.getByRole('status').textContent())!)
  }

  const encloseAll = () => enclose(0.997)

  test('encloses points with a lasso, and filters by the enclosed points', async () => {
    const selection = page.getByRole('region', { name: 'Selection' })
    await page.getByRole('button', { name: 'Lasso' }).click()
    const filter = selection.getByRole('button', { name: 'Filter the data' })
    // A selection larger than a filter allows is shown page by page.
    assert.equal(await encloseAll(), 200)
    await filter.click()
    await page.getByText('200 selected on the map').waitFor()
    await page.locator('.page-bar').getByText('1–20 of 200').waitFor()
    await page.getByLabel('Page size').selectOption('100')
    await page.locator('.page-bar').getByText('1–100 of 200').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.locator('.page-bar').getByText('101–200 of 200').waitFor()
    await openTab('Files')
    await page.getByText('200 selected on the map').waitFor()
    await page.getByLabel('Limit').fill('150')
    await page.evaluate('delete window.showSaveFilePicker')
    await page.getByRole('button', { name: 'Save to a file' }).click()
    await page.getByText('150 documents written').waitFor()
    await openTab('Map')
    await page.locator('[data-stage="done"]').waitFor()
    await page.getByRole('button', { name: 'Lasso' }).click()
    const some = await enclose(0.45)
    assert(some > 0 && some <= 100, String(some))
    await selection.getByRole('button', { name: 'Map only these' }).click()
    await page.getByText(`${some} vectors of 384`).waitFor()
    await page.getByRole('button', { name: 'Map all again' }).click()
    await page.locator('[data-stage="done"]').waitFor()
    // The keyboard can select points, too.
    await page
      .getByRole('checkbox', { name: 'Select museum-1', exact: true })
      .press('Space')
    await page
      .getByRole('checkbox', { name: 'Select museum-3', exact: true })
      .press('Space')
    await filter.click()
    await page.locator('.grid-row.document').nth(1).waitFor()
    const text = (await page.getByRole('textbox', { name: 'Filter' }).textContent())!
    const found = await console
      .db()
      .collection('sample_places')
      .find(JSON.parse(text) as object)
      .toArray()
    assert.deepEqual(found.map(({ _id }) => _id).toSorted(), ['museum-1', 'museum-3'])
  })

  test('pages through a selection, even when large documents end a page early', async () => {
    const db = console.db()
    const heavy = await db.createCollection('heavy', {
      vector: { dimension: 2 },
      indexing: { deny: ['text'] },
    })
    const text = 'x'.repeat(160_000)
    await heavy.insertMany(
      Array.from({ length: 105 }, (_, n) => ({
        _id: n,
        text,
        $vector: [Math.cos(n), Math.sin(n)],
      })),
      { ordered: true },
    )
    await page.getByRole('button', { name: 'Refresh' }).first().click()
    await page.getByRole('treeitem', { name: 'heavy' }).waitFor()
    await goTo(page, '#/db/home/default_keyspace/heavy/map')
    await page.locator('[data-stage="done"]').waitFor()
    await page.getByRole('button', { name: 'Lasso' }).click()
    assert.equal(await encloseAll(), 105)
    await page.getByRole('button', { name: 'Filter the data' }).click()
    await page.getByLabel('Page size').selectOption('200')
    const status = page.locator('.page-bar').getByRole('status')
    const next = page.getByRole('button', { name: 'Next page' })
    const counts: number[] = []
    for (let seen = 0; seen < 105;) {
      await status.filter({ hasText: new RegExp(`^${seen + 1}–`) }).waitFor()
      const [, end] = /–(\d+) of 105$/.exec(await status.innerText())!
      counts.push(Number(end) - seen)
      seen = Number(end)
      if (seen < 105) await next.click()
    }
    assert(await next.isDisabled())
    // The console reads 20 documents per request, and ends a page when it has 12 million
    // characters.
    assert.deepEqual(counts, [80, 25])
  })

  test('lists unsupported features of a table or collection', async () => {
    const db = console.db()
    await db.createCollection('plain', { lexical: { enabled: false } })
    const notes = await db.createTable('notes', {
      definition: {
        columns: { id: 'text', says: 'text', near: { type: 'vector', dimension: 2 } },
        primaryKey: 'id',
      },
    })
    await notes.createVectorIndex('notes_near', 'near', {
      options: { metric: 'euclidean' },
    })
    await notes.createTextIndex('notes_says', 'says')
    await notes.insertMany([
      { id: 'a', says: 'blue sky', near: vector([0, 1]) },
      { id: 'b', says: 'blue sea', near: vector([1, 0]) },
      { id: 'c', says: 'green sea' },
    ])
    const goTo = (path: string) =>
      page.goto(`${console.server.url}/console#/db/home/default_keyspace${path}`)
    await goTo('')
    await page.getByRole('button', { name: 'Refresh' }).first().click()
    await page.getByRole('link', { name: 'notes' }).first().click()
    await openTab('Search')
    await search('blue', '[1, 0.1]')
    assert.deepEqual(await namesIn('By vector'), ['b', 'a'])
    assert.deepEqual((await namesIn('By words')).toSorted(), ['a', 'b'])
    assert.match(
      (await page.locator('.search-lacking').textContent())!,
      /Hybrid is not available/,
    )
    await openTab('Map')
    await page.locator('[data-stage="done"]').waitFor()
    assert.match((await page.getByRole('status').first().textContent())!, /2 vectors of 2/)
    await goTo('/plain/search')
    await page.getByText('This collection cannot be searched').waitFor()
  })
})

/** Runs the text as a user does who pastes it into a file. */
async function runText(program: string, text: string): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'stela-pasted-'))
  try {
    const packages = fileURLToPath(new URL('../../node_modules', import.meta.url))
    await symlink(packages, join(folder, 'node_modules'))
    await writeFile(join(folder, 'pasted.mts'), text)
    return await runProgram(program, ['pasted.mts'], folder, testToken)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
