/** The processes that are measured. Each has its own, so that none slows the others. */
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const quietly = '--disable-warning=ExperimentalWarning'

export const token = 'bench-token'

export interface Memory {
  readonly own: number
  readonly mapped: number
}

/** A Stela server on a folder. */
export class Stela {
  readonly port: number
  /** From its start to the line that says it is ready. */
  readonly readyMs: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number, readyMs: number) {
    this.#child = child
    this.port = port
    this.readyMs = readyMs
  }

  /** With `profileDir`, a CPU profile of each thread is left there when the server stops. */
  static async start(dataDir: string, profileDir?: string): Promise<Stela> {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
    const profile =
      profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`]
    const startedAt = performance.now()
    const child = spawn(
      process.execPath,
      [quietly, ...profile, main, 'serve', '--data', dataDir, '--port', '0'],
      {
        env: {
          PATH: process.env['PATH'],
          STELA_ADMIN_TOKEN: token,
          STELA_LOG_LEVEL: 'warn',
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

  /** Memory in use, where the system tells. */
  /** Bytes of its own, and of files that are mapped: those are the system's to take back. */
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

  stop(): Promise<void> {
    return end(this.#child)
  }
}

/** A process that is asked one thing at a time and answers each. */
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
    return end(this.#child)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
