/**
 * The native runtime aborts the whole process when its thread is terminated during a call. So a
 * process that exits waits for the running call, and no new call starts. Both threads share two
 * atomic counters.
 */
export class ExitGuard {
  readonly memory: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(memory = new SharedArrayBuffer(8)) {
    this.memory = memory
    this.#state = new Int32Array(memory)
  }

  /** For the model's thread, around each call of the runtime; one at a time. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    Atomics.store(this.#state, runningAt, 1)
    try {
      if (Atomics.load(this.#state, exitingAt) === 1) throw new Error('the server exits')
      return await call()
    } finally {
      Atomics.store(this.#state, runningAt, 0)
      Atomics.notify(this.#state, runningAt)
    }
  }

  /** For a process that exits: returns when it is safe to end the model's thread. */
  readonly wait = (): void => {
    Atomics.store(this.#state, exitingAt, 1)
    Atomics.wait(this.#state, runningAt, 1, waitMaxMs)
  }
}

const runningAt = 0
const exitingAt = 1

/** Many times what a call takes; an exit must come about even so. */
const waitMaxMs = 5_000
