/** The npm package: its size, and the time until its server is ready. */
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Package from '../../src/start-stela.ts'
import { installPackage, type Installed } from '../../tests/package/install-package.ts'
import {
  interrupt,
  readyUrl,
  runCommand,
  startCommand,
} from '../../tests/package/run-command.ts'
import { whole } from '../report.ts'
import type { Findings, Study } from './study.ts'

/** Maximum milliseconds of a start in a test suite. The first start may take longer. */
const startMsMax = 400

export const packageStudy: Study = {
  name: 'package',
  says: 'the package: its size, and starts in a test suite; --sizes says how many starts',
  size: 20,
  async run({ size, folder, progress }) {
    progress('packing and installing')
    return measurePackage(await installPackage(folder, ['--omit=optional']), size, progress)
  },
}

export async function measurePackage(
  { app, packed, env }: Installed,
  count: number,
  progress: (line: string) => void,
): Promise<Findings> {
  progress('starting')
  const { startStela } = (await import(
    pathToFileURL(join(app, 'node_modules/stela/dist/start-stela.js')).href
  )) as typeof Package
  const starts = await timesOf(count, async () => {
    const stela = await startStela()
    return () => stela.close()
  })
  mkdirSync(join(app, 'served'))
  const main = join(app, 'node_modules/stela/dist/main.js')
  const serves = await timesOf(count, async (round) => {
    const flags = ['--port', '0', '--admin-port', 'off', '--data', `served/${round}`]
    const served = startCommand('node', [main, 'serve', ...flags], { cwd: app, env })
    await readyUrl(served)
    return () => interrupt(served)
  })
  const versions = await timesOf(count, async () => {
    await runCommand('node', [main, '--version'], { cwd: app, env })
    return () => Promise.resolve()
  })
  const row = (says: string, { first, rest }: Times) => [
    says,
    ...[first, rest[0]!, rest[Math.floor(rest.length / 2)]!, rest.at(-1)!].map(whole),
  ]
  return {
    tables: [
      {
        title: `Starts of the installed package, ${count} after the first`,
        head: ['start', 'first, ms', 'fastest', 'median', 'slowest'],
        rows: [
          row('startStela() to a server that answers', starts),
          row('stela serve on an empty folder, to the ready line', serves),
          row('stela --version', versions),
        ],
      },
    ],
    figures: [
      { what: 'packed', value: packed.size / 1e6, unit: 'MB' },
      { what: 'unpacked', value: packed.unpackedSize / 1e6, unit: 'MB' },
      { what: 'files', value: packed.files.length, unit: '' },
      {
        what: 'with its dependencies, without the optional packages',
        value: sizeOf(join(app, 'node_modules')) / 1e6,
        unit: 'MB',
      },
      {
        what: 'startStela, median',
        value: starts.rest[Math.floor(count / 2)]!,
        unit: 'ms',
        max: startMsMax,
      },
    ],
  }
}

interface Times {
  readonly first: number
  /** Milliseconds of all starts but the first, in ascending order. */
  readonly rest: readonly number[]
}

/**
 * Measures each call of `start` until its promise resolves. The promise has to resolve to a
 * function that stops what the call started.
 */
async function timesOf(
  count: number,
  start: (round: number) => Promise<() => Promise<void>>,
): Promise<Times> {
  const times: number[] = []
  for (let round = 0; round <= count; round++) {
    const before = performance.now()
    const end = await start(round)
    times.push(performance.now() - before)
    await end()
  }
  const [first, ...rest] = times
  return { first: first!, rest: rest.toSorted((a, b) => a - b) }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
