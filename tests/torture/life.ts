/** One server process, from its start to its end. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { program, serverEnvironment } from '../server-environment.ts'
import type { Tally } from './tally.ts'

export const token = 'torture-token'
const clock = new URL('moved-clock.ts', import.meta.url).href

export interface LifeOptions {
  readonly dataDir: string
  readonly flags: readonly string[]
  /** File with the clock offset of the server; undefined: the server uses the real clock. */
  readonly clockFile: string | undefined
}

/** Processes that must end when this process ends. */
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

const logMax = 20_000
const warningsMax = 2_000

export class Life {
  readonly child: ChildProcess
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>
  /** How the test ended the process. A process in the state `living` must not end by itself. */
  fate: 'living' | 'killed' | 'stopped' = 'living'
  url = ''
  /** The last output of the process on standard error. */
  log = ''
  /** Lines of the server's log at level warn or above, and other lines of standard error. */
  readonly warnings: string[] = []
  readonly #tally: Tally
  #out = ''
  #unfinished = ''

  constructor({ dataDir, flags, clockFile }: LifeOptions, tally: Tally) {
    this.#tally = tally
    const words = [
      'serve',
      '--port',
      '0',
      '--data',
      dataDir,
      '--log-level',
      'warn',
      ...flags,
    ]
    const preload = clockFile === undefined ? [] : ['--import', clock]
    this.child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', ...preload, program, ...words],
      {
        env: {
          ...serverEnvironment,
          STELA_ADMIN_TOKEN: token,
          // Small limits, so that runs and segments are written and merged all the time. Kills then
          // often interrupt such work.
          STELA_TEST_MEMTABLE: '64',
          STELA_TEST_WAITING: '1000',
          // No warnings about slow commands: on a busy machine, any command can be slow.
          STELA_SLOW_COMMAND: '0',
          ...(clockFile !== undefined && { TORTURE_CLOCK_FILE: clockFile }),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.#out += text))
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#hear(text))
    this.ended = once(this.child, 'close').then(([code]) => code as number | null)
    living.add(this.child)
    void this.ended.then(() => living.delete(this.child))
  }

  /** Waits until the process serves; returns false when it ends before that. */
  async serves(): Promise<boolean> {
    while (!this.#out.includes('\n')) {
      const ended = await Promise.race([once(this.child.stdout!, 'data'), this.ended])
      if (!Array.isArray(ended)) return false
    }
    this.url = /^stela ready (\S+)\n/.exec(this.#out)![1]!
    return true
  }

  async kill(): Promise<void> {
    this.fate = 'killed'
    this.child.kill('SIGKILL')
    await this.ended
  }

  stop(): Promise<number | null> {
    this.fate = 'stopped'
    this.child.kill('SIGTERM')
    return this.ended
  }

  #hear(text: string): void {
    this.log = (this.log + text).slice(-logMax)
    const lines = (this.#unfinished + text).split('\n')
    this.#unfinished = lines.pop()!
    for (const line of lines) {
      if (line !== '' && this.warnings.length < warningsMax) this.warnings.push(line)
      if (/^\{"level":(?:50|60),/.test(line)) this.#tally.countErrorLine(shortLine(line))
    }
  }
}

/** The message and cause of a log line, without paths. */
function shortLine(line: string): string {
  const message = /"msg":"((?:[^"\\]|\\.)*)"\}?$/.exec(line)?.[1] ?? line.slice(0, 300)
  const cause = /"message":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
  const whole = cause === undefined ? message : `${message}: ${cause}`
  return whole.replaceAll(/\/\S*\/data\//g, '')
}
