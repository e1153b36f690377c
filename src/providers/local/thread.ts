/** Controls the thread of the models, from the thread that serves requests. */
import { Worker } from 'node:worker_threads'
import type { Entrant } from '../../caller/fair-queue.ts'
import { siblingModule } from '../../runtime/sibling-module.ts'
import { ExitGuard } from './exit-guard.ts'
import type {
  Answers,
  FromThread,
  Question,
  ThreadSettings,
  ToThread,
} from './model-thread.ts'
import type { WorkEvents, WorkSettings } from './model-work.ts'

interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (error: Error) => void
}

export interface ThreadEvents extends WorkEvents {
  /** The thread has ended; `reason` is set if it failed. */
  ended(reason: string | undefined): void
}

export class ModelThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #events: ThreadEvents
  readonly #guard = new ExitGuard()
  readonly #exited: Promise<void>
  #nextId = 1
  #closing = false
  #failure: string | undefined

  constructor(settings: WorkSettings, events: ThreadEvents) {
    this.#events = events
    this.#worker = new Worker(siblingModule('model-thread', import.meta.url), {
      workerData: { ...settings, guard: this.#guard.memory } satisfies ThreadSettings,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    process.on('exit', this.#guard.wait)
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error: Error) => (this.#failure = error.message))
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#end(code)
        resolve()
      })
    })
    // Only a thread with pending requests keeps the process alive.
    this.#worker.unref()
  }

  async ask<Asked extends Question>(
    question: Asked,
    { principalName, signal }: Entrant,
  ): Promise<Answers[Asked['kind']]> {
    signal.throwIfAborted()
    const id = this.#nextId++
    const { promise, resolve, reject } = Promise.withResolvers<Answers[Asked['kind']]>()
    const drop = (): void => {
      this.#send({ kind: 'drop', id })
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', drop, { once: true })
    if (this.#waiting.size === 0) this.#worker.ref()
    this.#waiting.set(id, { resolve, reject })
    this.#send({ kind: 'ask', id, principalName, question })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', drop)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) this.#worker.unref()
    }
  }

  /** Ends the thread; pending requests are rejected. */
  async close(): Promise<void> {
    this.#closing = true
    this.#worker.ref()
    this.#send({ kind: 'close' })
    await this.#exited
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'loaded':
        this.#events.loaded(message.model, message.durationMs)
        return
      case 'answered':
        this.#waiting.get(message.id)?.resolve(message.answer as never)
        return
      case 'failed':
        this.#waiting.get(message.id)?.reject(new Error(message.reason))
        return
    }
  }

  #end(code: number): void {
    process.off('exit', this.#guard.wait)
    const reason = this.#closing
      ? undefined
      : (this.#failure ?? `its thread ended with code ${code}`)
    const error = new Error(
      reason === undefined
        ? 'the server is shutting down'
        : `the local model failed; it restarts with the next request: ${reason}`,
    )
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#events.ended(reason)
  }
}
