/** CPU time and memory of a server with all its processes, as the system reports them. */
import { readdirSync, readFileSync } from 'node:fs'
import { tickMs } from './processes.ts'

/** A server's main process and its children. */
export class ProcessTree {
  readonly #main: number

  constructor(main: number) {
    this.#main = main
  }

  /**
   * Milliseconds of CPU time of all processes, including children that have ended; undefined if the
   * system does not report it.
   */
  readonly processorMs = (): number | undefined => {
    try {
      // Read first, so that a child that ends meanwhile does not count twice.
      const ended = endedMs(this.#main)
      return this.#processes().reduce((sum, pid) => sum + runningMs(pid), ended)
    } catch {
      return undefined
    }
  }

  /**
   * Bytes of memory of all processes: the sum of their proportional set sizes, so that shared
   * memory counts once. The cache of the system does not count. Undefined if the system does not
   * report it.
   */
  memory(): number | undefined {
    try {
      return this.#processes().reduce((sum, pid) => sum + memoryOf(pid), 0)
    } catch {
      return undefined
    }
  }

  #processes(): number[] {
    const threads = `/proc/${this.#main}/task`
    const children = readdirSync(threads).flatMap((thread) =>
      textOf(`${threads}/${thread}/children`).split(' ').filter(Boolean),
    )
    return [this.#main, ...children.map(Number)]
  }
}

/** CPU time of the threads of a process. The system reports nanoseconds for threads. */
function runningMs(pid: number): number {
  const threads = `/proc/${pid}/task`
  const names = readOr([], () => readdirSync(threads))
  return names.reduce(
    (sum, name) => sum + Number(textOf(`${threads}/${name}/schedstat`).split(' ')[0]) / 1e6,
    0,
  )
}

/** CPU time of the children that a process had and that have ended. */
function endedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The process name may contain spaces, so fields are counted after it. User and system time of
  // ended children are fields 16 and 17 of the whole line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * tickMs
}

function memoryOf(pid: number): number {
  const rollup = textOf(`/proc/${pid}/smaps_rollup`)
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]
  return Number(kilobytes ?? 0) * 1024
}

/** The text of a file; empty if the process has ended. */
function textOf(path: string): string {
  return readOr('', () => readFileSync(path, 'utf8'))
}

function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
