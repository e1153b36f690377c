/**
 * Starts the measured processes. Each server and baseline runs in its own process, so that they do
 * not slow each other down.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const thisCheckout = fileURLToPath(new URL('..', import.meta.url))
const quietly = '--disable-warning=ExperimentalWarning'

export const token = 'bench-token'

/**
 * Bytes of private memory and of mapped files. The system can reclaim the memory of mapped files.
 */
export interface Memory {
  readonly own: number
  readonly mapped: number
}

export interface StelaOptions {
  /** Source folder of the version to start; absent: this version. */
  readonly checkout?: string | undefined
  /** File of the program to start instead, such as the built one; absent: the source. */
  readonly program?: string | undefined
  /** Folder for CPU profiles. Each thread writes its profile when the server stops. */
  readonly profileDir?: string | undefined
  /** Settings, as environment variables. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A Stela server. */
export class Stela {
  readonly port: number
  /** Milliseconds from start to the ready line. */
  readonly readyMs: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number, readyMs: number) {
    this.#child = child
    this.port = port
    this.readyMs = readyMs
  }

  /** Starts a server. If `dataDir` is undefined, the settings determine where the data is. */
  static async start(
    dataDir: string | undefined,
    options: StelaOptions = {},
  ): Promise<Stela> {
    const { checkout = thisCheckout, program, profileDir, settings } = options
    const data = dataDir === undefined ? [] : ['--data', dataDir]
    const main = program ?? join(checkout, 'src/main.ts')
    const profile =
      profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`]
    const startedAt = performance.now()
    const child = spawn(
      process.execPath,
      [quietly, ...profile, main, 'serve', ...data, '--port', '0'],
      {
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          STELA_ADMIN_TOKEN: token,
          STELA_LOG_LEVEL: 'warn',
          ...settings,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^stela ready (\S+)$/.exec(line)?.[1]
      if (url !== undefined)
        return new Stela(child, Number(new URL(url).port), performance.now() - startedAt)
    }
    throw new Error('the server ended before it was ready')
  }

  /** Memory in use; undefined if the system does not report it. */
  memory(): Memory | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
      const bytesOf = (name: string) =>
        Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1024
      return { own: bytesOf('RssAnon'), mapped: bytesOf('RssFile') + bytesOf('RssShmem') }
    } catch {
      return undefined
    }
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Waits until the server is idle, because it builds indexes after it acknowledged a write. */
  settle(): Promise<number> {
    return settle(() => this.processorMs())
  }

  /**
   * Milliseconds of CPU time of the server's threads; undefined if the system does not report it.
   */
  processorMs(): number | undefined {
    const folder = `/proc/${this.#child.pid}/task`
    try {
      // The system reports times of threads in nanoseconds, and times of processes in ticks. The
      // sum is valid because threads live as long as the server.
      return readdirSync(folder).reduce((sum, thread) => {
        const [running] = readFileSync(join(folder, thread, 'schedstat'), 'utf8').split(' ')
        return sum + Number(running) / 1e6
      }, 0)
    } catch {
      return processorMsOf(this.#child.pid)
    }
  }

  stop(): Promise<void> {
    return endProcess(this.#child)
  }
}

/** Milliseconds per tick of the system's CPU times. */
export const tickMs = 10

/** Milliseconds of CPU time of a process; undefined if the system does not report it. */
export function processorMsOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The process name may contain spaces and parentheses, so fields are counted after its end.
    // User and system time are fields 14 and 15 of the whole line.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * tickMs
  } catch {
    return undefined
  }
}

/** Milliseconds without CPU time after which a process counts as idle. */
const idleMs = 800

/**
 * Waits until a server is idle. Returns the milliseconds until the server became idle. Does not
 * wait if the system does not report CPU time.
 */
export async function settle(processorMs: () => number | undefined): Promise<number> {
  const startedAt = performance.now()
  let idleSince = startedAt
  let before = processorMs()
  while (before !== undefined && performance.now() - idleSince < idleMs) {
    await setTimeout(idleMs / 4)
    const now = processorMs()
    // A server that uses at most one tick between two measurements counts as idle.
    if (now === undefined || now > before + tickMs) idleSince = performance.now()
    before = now
  }
  return idleSince - startedAt
}

/** A process that answers one question at a time. */
export class Baseline<Question extends object, Answer> {
  readonly #child: ChildProcess

  constructor(file: URL) {
    this.#child = fork(file, { execArgv: [quietly] })
  }

  async ask(question: Question): Promise<Answer> {
    const gone = new AbortController()
    const onExit = () => gone.abort(new Error('a baseline ended too early'))
    this.#child.once('exit', onExit)
    try {
      const answered = once(this.#child, 'message', { signal: gone.signal })
      this.#child.send(question)
      const [answer] = (await answered) as [Answer]
      return answer
    } finally {
      this.#child.off('exit', onExit)
    }
  }

  stop(): Promise<void> {
    return endProcess(this.#child)
  }
}

/** Ends a process, by default as an operator does. */
export async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}
