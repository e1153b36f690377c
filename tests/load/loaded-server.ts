/** A server process under load, and its resource usage. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fixedLimits } from '../../src/limits.ts'
import { ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder } from '../harness.ts'

/** Resource usage; sizes are in bytes. */
export interface Usage {
  /** Resident memory of the process. */
  readonly memory: number
  /** Used JavaScript heap, including uncollected garbage. */
  readonly heap: number
  readonly handles: number
  readonly files: number
  readonly connections: number
  readonly logs: number
  readonly folder: number
}

export class LoadedServer {
  readonly #folder: string
  readonly #process: ServerProcess

  private constructor(folder: string, process: ServerProcess) {
    this.#folder = folder
    this.#process = process
  }

  static async start(): Promise<LoadedServer> {
    const folder = await temporaryFolder()
    return new LoadedServer(
      folder,
      await ServerProcess.start(folder, '--log-level', 'error'),
    )
  }

  get port(): number {
    return Number(new URL(this.#process.url).port)
  }

  async usage(): Promise<Usage> {
    // /metrics is cached for this time. An earlier reply would be outdated.
    await pause(fixedLimits.metricsCacheMs)
    const { pid } = this.#process.child
    const status = readFileSync(`/proc/${pid!}/status`, 'utf8')
    const response = await fetch(`${this.#process.url}/metrics`)
    const metrics = await response.text()
    const metric = (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? NaN)
    return {
      memory: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024,
      heap: metric('nodejs_heap_size_used_bytes'),
      handles: metric('nodejs_active_handles_total'),
      files: readdirSync(`/proc/${pid!}/fd`).length,
      connections: metric('stela_http_connections'),
      logs: this.#sizeOf((name) => name.endsWith('-wal')),
      folder: this.#sizeOf(() => true),
    }
  }

  #sizeOf(isMeant: (name: string) => boolean): number {
    let size = 0
    const names = readdirSync(this.#folder, { recursive: true, encoding: 'utf8' })
    for (const name of names.filter(isMeant))
      size += statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0
    return size
  }

  /** Warnings and errors in the server's log; normally empty. */
  get complaints(): string {
    return this.#process.err
  }

  /** Stops the server. Rejects if the process does not exit normally. */
  async stop(): Promise<void> {
    const code = await this.#process.stop()
    await rm(this.#folder, { recursive: true, force: true })
    if (code !== 0) throw new Error(`the server ended with code ${String(code)}`)
  }
}

export function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}
