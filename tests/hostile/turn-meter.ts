/**
 * Measures the processor time of the longest event-loop turn of a server's main thread.
 *
 * This module is loaded with `node --import`. A timer fires once per turn while the loop is busy.
 * The processor time between two firings is that of one turn, or of several short turns within
 * `tickMs`. Unlike a delay, processor time does not depend on other load of the machine.
 * `read-turns.ts` requests the figures by a signal, and this module writes them to the file that
 * STELA_TEST_TURNS names. If the file `collectFileOf` exists, the module first collects garbage.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const tickMs = 1

/** Figures since the server started or since the last report. Times are in milliseconds. */
export interface Turns {
  /** Number of the report. It lets a reader recognise a new report. */
  readonly report: number
  readonly longestMs: number
  /** Number of turns with more than 20, 50 and 100 ms of processor time. */
  readonly over: { readonly 20: number; readonly 50: number; readonly 100: number }
  /** Memory of the process, and of its main thread, in bytes. */
  readonly memory: NodeJS.MemoryUsage
}

const file = process.env['STELA_TEST_TURNS']

if (isMainThread && file !== undefined && process.argv.includes('serve')) measure(file)

function measure(target: string): void {
  let report = 0
  let longestMs = 0
  let over = { 20: 0, 50: 0, 100: 0 }
  let before = threadMs()
  setInterval(() => {
    const now = threadMs()
    const turnMs = now - before
    before = now
    longestMs = Math.max(longestMs, turnMs)
    if (turnMs > 20) over[20]++
    if (turnMs > 50) over[50]++
    if (turnMs > 100) over[100]++
  }, tickMs).unref()
  process.on('SIGUSR2', () => {
    if (existsSync(collectFileOf(target))) {
      rmSync(collectFileOf(target))
      collectGarbage()
      before = threadMs()
    }
    const turns: Turns = {
      report: ++report,
      longestMs,
      over,
      memory: process.memoryUsage(),
    }
    longestMs = 0
    over = { 20: 0, 50: 0, 100: 0 }
    writeFileSync(`${target}.new`, JSON.stringify(turns))
    renameSync(`${target}.new`, target)
  })
}

/** The path of a file whose existence requests a garbage collection. */
export function collectFileOf(target: string): string {
  return `${target}.collect`
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // The second collection frees objects that finalizers released after the first one.
  collect()
  collect()
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
