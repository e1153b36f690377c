/** Handle of a worker thread that answers numbered messages. */
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { detailsOf, reasonOf } from '../../../errors/reason.ts'
import type { ThreadMemory } from '../../operations.ts'
import { EngineError } from '../../errors.ts'
import { isDamage } from '../files/disk-trouble.ts'

/** A message without its number. */
export type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'id'> : never

interface Reply {
  readonly id: number
  readonly error?: string
  readonly details?: string
  readonly isDamage?: boolean
}

/** An error as a thread sends it. */
export interface Failure {
  readonly id: number
  /** Message for clients. */
  readonly error: string
  /** Message for the log, with file names. */
  readonly details: string
  /** Whether stored data is damaged. */
  readonly isDamage: boolean
}

export function failureOf(id: number, error: unknown): Failure {
  return {
    ...{ id, error: reasonOf(error), details: detailsOf(error) },
    isDamage: isDamage(error),
  }
}

/** Error for a caller: of the given kind, or `damaged` when the thread found damage. */
export function errorOf(
  kind: 'read' | 'write',
  reason: string,
  options: ErrorOptions,
  reply?: Reply,
): EngineError {
  return new EngineError(reply?.isDamage === true ? 'damaged' : kind, reason, options)
}

/**
 * Limit of the young generation of a thread's heap, in megabytes. With V8's default, each thread
 * would take four times as much memory under load, and keep it.
 */
const youngGenerationMb = 48

/** Maximum time to wait for the heap size of a thread, in milliseconds. */
const heapPatienceMs = 100

/** Creates the error of a request. Without a reply, the thread has died. */
type MakeError<R> = (reason: string, options: ErrorOptions, reply?: R) => Error

interface Waiting<R> {
  readonly resolve: (reply: R) => void
  readonly reject: (error: Error) => void
}

export class Thread<Message extends { readonly id: number }, R extends Reply> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting<R>>()
  readonly #failure: MakeError<R>
  #nextId = 1
  #isStopping = false
  #ended: Error | undefined
  readonly #name: string
  #memory: ThreadMemory | undefined
  #askingForMemory: Promise<void> | undefined

  /**
   * `name` is the thread's name in metrics. `failure` makes the errors of callers. `notice` gets
   * the messages that the thread sends without a request, which have the number 0.
   */
  constructor(
    name: string,
    script: URL,
    failure: MakeError<R>,
    notice?: (message: unknown) => void,
  ) {
    this.#name = name
    this.#failure = failure
    this.#worker = new Worker(script, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
    })
    this.#worker.on('message', (replies: readonly R[]) => {
      for (const reply of replies)
        if (reply.id === 0) notice?.(reply)
        else this.#settle(reply)
      if (this.#waiting.size === 0) this.#worker.unref()
    })
    this.#worker.on('error', (error: Error) => this.#end(error))
    this.#worker.on('messageerror', (error: Error) => this.#end(error))
    this.#worker.on('exit', (code) => this.#end(new Error(`it ended with status ${code}`)))
    // An idle thread must not keep the process alive, but a thread that owes a reply must keep it
    // alive.
    this.#worker.unref()
  }

  /** Whether the thread has died. */
  get isLost(): boolean {
    return this.#ended !== undefined && !this.#isStopping
  }

  /** Number of messages without a reply. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** The heap size that the thread last reported, if any: a busy thread may take long to reply. */
  async memory(): Promise<ThreadMemory | undefined> {
    this.#askingForMemory ??= this.#askForMemory().finally(() => {
      this.#askingForMemory = undefined
    })
    const late = pause(heapPatienceMs, undefined, { ref: false })
    await Promise.race([this.#askingForMemory, late])
    return this.#memory
  }

  async #askForMemory(): Promise<void> {
    try {
      const heap = await this.#worker.getHeapStatistics()
      const { used_heap_size: used, total_heap_size: size } = heap
      this.#memory = { thread: this.#name, used, size }
    } catch {
      // The thread has ended.
      this.#memory = undefined
    }
  }

  ask(message: Unnumbered<Message>): Promise<R> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref()
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ ...message, id })
    })
  }

  /** Sends the last message. A thread that has died counts as stopped. */
  async stop(message: Unnumbered<Message>): Promise<void> {
    if (this.#ended !== undefined) return
    this.#isStopping = true
    await this.ask(message)
  }

  #settle(reply: R): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.error === undefined) waiting?.resolve(reply)
    else waiting?.reject(this.#failure(reply.error, { cause: causeOf(reply) }, reply))
  }

  #end(cause: Error): void {
    // Waiting requests and later requests fail with this error.
    this.#ended ??= this.#isStopping
      ? new EngineError('closed', 'the server is shutting down')
      : this.#failure(`its thread has died: ${reasonOf(cause)}`, { cause })
    for (const { reject } of this.#waiting.values()) reject(this.#ended)
    this.#waiting.clear()
  }
}

/** Details of an error that clients do not get. */
function causeOf({ error, details }: Reply): Error | undefined {
  return details === undefined || details === error ? undefined : new Error(details)
}
