/**
 * ONNX Runtime aborts the whole process when its thread is terminated during a call. An exiting
 * process therefore waits for the running call, and no new call starts. The main thread and the
 * thread of the models share two atomic flags.
 */
export class ExitGuard {
  readonly memory: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(memory = new SharedArrayBuffer(8)) {
    this.memory = memory
    this.#state = new Int32Array(memory)
  }

  /** Runs a call of the runtime. The model's thread makes one call at a time. */
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

  /** Called by an exiting process; returns when the model's thread can be terminated safely. */
  readonly wait = (): void => {
    Atomics.store(this.#state, exitingAt, 1)
    Atomics.wait(this.#state, runningAt, 1, waitMaxMs)
  }
}

const runningAt = 0
const exitingAt = 1

/**
 * Maximum wait in milliseconds, so that the process always exits. It is many times the duration of
 * a call.
 */
const waitMaxMs = 5_000
