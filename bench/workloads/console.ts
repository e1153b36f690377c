/** Measures the web console in a real browser: transfer size, load time, smoothness. */
import { join } from 'node:path'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { launchBrowser } from '../../tests/http/browser.ts'
import { collectionPath, copyFolder, prepareDataset } from '../dataset.ts'
import { Picks } from '../documents.ts'
import { Stela, token } from '../processes.ts'
import { short, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import type { Study } from './study.ts'

/** Limits in bytes: until the first screen is shown, and for all files. */
const firstBytesMax = 100_000
const allBytesMax = 250_000

/** Limits in milliseconds: for the first screen, and for a frame at 60 Hz. */
const firstScreenMsMax = 1_000
const frameMsMax = 1000 / 60

/** Repetitions of each measurement. */
const rounds = 9

/** Number of documents on the scrolled page, and number of frames. */
const pageSize = 1_000
const frames = 180

export const consoleStudy: Study = {
  name: 'console',
  says: 'the web console: bytes, time to the first screen, scrolling and filtering',
  size: 100_000,

  async run({ folder, keepDir, size, seed, progress }) {
    const dataset = await prepareDataset(keepDir ?? folder, size, seed, progress)
    const served = join(folder, 'served-console')
    copyFolder(dataset.folder, served)
    const server = await Stela.start(served)
    const browser = await launchBrowser()
    try {
      const url = `http://127.0.0.1:${server.port}/console`
      progress('loading')
      const loaded = await measureLoading(browser, url)
      progress('scrolling and filtering')
      const moved = await measureData(browser, url, new Picks(seed, size))
      const row = (says: string, times: readonly number[]) => {
        const sorted = times.toSorted((a, b) => a - b)
        const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1]!
        return [says, ...[at(0.5), at(0.99), sorted.at(-1)!].map(short)]
      }
      const figures: readonly Figure[] = [
        {
          what: 'bytes before the first screen',
          value: loaded.firstBytes,
          unit: '',
          max: firstBytesMax,
        },
        {
          what: 'bytes of all pages',
          value: loaded.allBytes,
          unit: '',
          max: allBytesMax,
        },
        {
          what: 'first screen, median',
          value: middle(loaded.firstScreens),
          unit: 'ms',
          max: firstScreenMsMax,
        },
        {
          what: 'a frame of scrolling, median',
          value: middle(moved.scrolls),
          unit: 'ms',
          max: frameMsMax * 1.1,
        },
        { what: 'elements of the list, maximum', value: moved.linesMax, unit: '' },
      ]
      return {
        tables: [
          {
            title: `The console, ${whole(size)} documents`,
            head: ['step', 'median, ms', 'p99, ms', 'max, ms'],
            rows: [
              row('first screen, empty browser cache', loaded.firstScreens),
              row('first screen, files in the browser cache', loaded.nextScreens),
              row('documents on the screen, signed in', loaded.documents),
              row(`a frame, scrolling ${whole(pageSize)} documents`, moved.scrolls),
              row('filter by an indexed field, to the first 20', moved.filters),
              row('next page of 20', moved.pages),
            ],
          },
        ],
        figures,
      }
    } finally {
      await browser.close()
      await server.stop()
    }
  },
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

interface Loading {
  /** Transferred bytes until the first screen is shown, and of all files. */
  readonly firstBytes: number
  readonly allBytes: number
  readonly firstScreens: readonly number[]
  readonly nextScreens: readonly number[]
  readonly documents: readonly number[]
}

const keepToken = `sessionStorage.setItem('stela.token', ${JSON.stringify(token)})`

const [, , keyspace = '', collection = ''] = collectionPath.split('/')
const dataHash = `#/db/home/${keyspace}/${collection}/data`

async function measureLoading(browser: Browser, url: string): Promise<Loading> {
  const firstScreens: number[] = []
  const nextScreens: number[] = []
  const documents: number[] = []
  let firstBytes = 0
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    const bytes = await bytesOf(page, async () => {
      await page.goto(url)
      firstScreens.push(await timeTo(page, 'input[type=password]'))
    })
    firstBytes = Math.max(firstBytes, bytes)
    await page.goto('about:blank')
    await page.goto(url)
    nextScreens.push(await timeTo(page, 'input[type=password]'))
    await context.addInitScript(keepToken)
    await page.goto('about:blank')
    await page.goto(url + dataHash)
    documents.push(await timeTo(page, '[role=grid] [role=gridcell]'))
    await context.close()
  }
  const allBytes = await bytesOfAll(url)
  return { firstBytes, allBytes, firstScreens, nextScreens, documents }
}

/** Milliseconds from navigation until the element is visible, by the clock of the page. */
async function timeTo(page: Page, selector: string): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const look = () => document.querySelector(${JSON.stringify(selector)}) === null
      ? requestAnimationFrame(look) : resolve(performance.now())
    look()
  })`)
}

async function bytesOf(page: Page, act: () => Promise<void>): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await act()
  await page.waitForLoadState('networkidle')
  await session.detach()
  return bytes
}

/** Total bytes of the page and of all files to which it refers, directly or indirectly. */
async function bytesOfAll(url: string): Promise<number> {
  const headers = { 'Accept-Encoding': 'br' }
  const known = new Set(['console'])
  let bytes = 0
  for (const path of known) {
    const response = await fetch(new URL(path, url), { headers })
    bytes += Number(response.headers.get('content-length'))
    const text = await response.text()
    for (const [, name] of text.matchAll(/["'/]([\w-]+-[A-Z0-9]{8}\.(?:js|css))["']/g))
      known.add(`console/${name!}`)
  }
  return bytes
}

interface Moving {
  readonly scrolls: readonly number[]
  readonly linesMax: number
  readonly filters: readonly number[]
  readonly pages: readonly number[]
}

async function measureData(browser: Browser, url: string, picks: Picks): Promise<Moving> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(keepToken)
  const page = await context.newPage()
  await page.goto(url + dataHash)
  await timeTo(page, '[role=grid] [role=gridcell]')
  const filters: number[] = []
  const pages: number[] = []
  for (let round = 0; round < rounds; round++) {
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.fill(`{"city": "${picks.city()}"}`)
    filters.push(await timeOf(page, 'Apply'))
  }
  await timeOf(page, 'Clear')
  for (let round = 0; round < rounds; round++) pages.push(await timeOf(page, 'Next page'))
  await page.getByLabel('Page size').selectOption(String(pageSize))
  const isThere = `document.querySelector('[role=grid]')?.ariaRowCount > ${pageSize / 2}`
  await page.waitForFunction(isThere, undefined, { timeout: 60_000 }).catch(() => undefined)
  const { times, linesMax } = await page.evaluate<{ times: number[]; linesMax: number }>(
    scrollThrough,
  )
  await context.close()
  return { scrolls: times, linesMax, filters, pages }
}

/** Milliseconds from the click until other documents are visible. */
async function timeOf(page: Page, button: string): Promise<number> {
  await page.evaluate(`window.shown = document.querySelector('[role=grid]').innerText
    window.clicked = 0
    addEventListener('click', () => (window.clicked = performance.now()), { once: true, capture: true })`)
  await page.getByRole('button', { name: button, exact: true }).click()
  return page.evaluate(`new Promise((resolve) => {
    const look = () => {
      const grid = document.querySelector('[role=grid]')
      if (grid === null || grid.innerText === window.shown) requestAnimationFrame(look)
      else resolve(performance.now() - window.clicked)
    }
    look()
  })`)
}

/** Scrolls from top to bottom, one step per frame. Returns the time of each frame. */
const scrollThrough = `new Promise((resolve) => {
  const grid = document.querySelector('[role=grid]')
  const step = (grid.scrollHeight - grid.clientHeight) / ${frames}
  const times = []
  let linesMax = 0
  let before = performance.now()
  const next = () => {
    const now = performance.now()
    times.push(now - before)
    before = now
    linesMax = Math.max(linesMax, grid.querySelectorAll('[role=row]').length)
    if (times.length > ${frames}) return resolve({ times: times.slice(1), linesMax })
    grid.scrollTop += step
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})`
