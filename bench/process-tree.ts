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
      const used = this.#processes().map(memoryOf)
      const sum = (of: (used: Used) => number) =>
        used.reduce((total, one) => total + of(one), 0)
      // A process maps only the pages that it has used. So pages of a segment that only ended
      // children have used are missing in the sizes of the others.
      const shared = Math.max(
        sum((one) => one.shared),
        segmentsOf(this.#main),
      )
      return sum((one) => one.all - one.shared) + shared
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

/** Proportional set size of a process in bytes, and its part in shared segments. */
interface Used {
  readonly all: number
  readonly shared: number
}

function memoryOf(pid: number): Used {
  const rollup = textOf(`/proc/${pid}/smaps_rollup`)
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0) * 1024
  return { all: bytes('Pss'), shared: bytes('Pss_Shmem') }
}

/** Bytes in memory of the System V segments that a process has created. */
function segmentsOf(pid: number): number {
  const [head = '', ...lines] = textOf('/proc/sysvipc/shm').trim().split('\n')
  const names = head.trim().split(/\s+/)
  const [creator, resident] = [names.indexOf('cpid'), names.indexOf('rss')]
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter((fields) => fields[creator] === pid)
    .reduce((sum, fields) => sum + fields[resident]!, 0)
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
