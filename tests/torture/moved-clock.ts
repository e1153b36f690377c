/**
 * Preloaded into a server (node --import). Moves the clock that the server sees, in all of its
 * threads, by the milliseconds in a file. Timers keep their speed, as they do when the clock of a
 * machine is set.
 */
import { readFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Worker, WorkerOptions } from 'node:worker_threads'

const file = process.env['TORTURE_CLOCK_FILE']!

/** Interval at which a server reads the offset, in milliseconds. */
const lookEveryMs = 50

let offsetMs = 0
offsetMs = readOffset()
setInterval(() => (offsetMs = readOffset()), lookEveryMs).unref()

/** Reads the offset; keeps the previous one when the file cannot be read. */
function readOffset(): number {
  try {
    const read = Number(readFileSync(file, 'utf8'))
    return Number.isFinite(read) ? read : offsetMs
  } catch {
    return offsetMs
  }
}

const realNow = Date.now

class MovedDate extends Date {
  constructor(...given: [] | [number]) {
    if (given.length === 0) super(MovedDate.now())
    else super(...given)
  }

  static override now(): number {
    return realNow() + offsetMs
  }
}

globalThis.Date = MovedDate as DateConstructor

/**
 * Adds this module to the arguments of each worker. A worker with its own arguments does not
 * inherit those of the process.
 */
const threads = createRequire(import.meta.url)('node:worker_threads') as {
  Worker: typeof Worker
}
const RealWorker = threads.Worker
threads.Worker = class extends RealWorker {
  constructor(script: string | URL, options: WorkerOptions = {}) {
    const execArgv = ['--import', import.meta.url, ...(options.execArgv ?? [])]
    super(script, { ...options, execArgv })
  }
}
syncBuiltinESMExports()
