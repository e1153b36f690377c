/** Entry point of the thread that runs models, because a run blocks its thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { ExitGuard } from './exit-guard.ts'
import type { Entrant } from '../../caller/fair-queue.ts'
import { ModelWork, type WorkSettings } from './model-work.ts'

export interface ThreadSettings extends WorkSettings {
  readonly guard: SharedArrayBuffer
}

export type Question =
  | { readonly kind: 'embed'; readonly texts: readonly string[] }
  | {
      readonly kind: 'rerank'
      readonly query: string
      readonly passages: readonly string[]
    }

export interface Answers {
  /** One vector per text. */
  readonly embed: readonly Float32Array[]
  /** One score per passage. */
  readonly rerank: readonly number[]
}

export type ToThread =
  | {
      readonly kind: 'ask'
      readonly id: number
      /** Principals take turns at the model. */
      readonly principalName: string
      readonly question: Question
    }
  | { readonly kind: 'drop'; readonly id: number }
  | { readonly kind: 'close' }

type Ask = Extract<ToThread, { kind: 'ask' }>

export type FromThread =
  | { readonly kind: 'loaded'; readonly model: string; readonly durationMs: number }
  | {
      readonly kind: 'answered'
      readonly id: number
      readonly answer: Answers[keyof Answers]
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

function serve(port: NonNullable<typeof parentPort>, settings: ThreadSettings): void {
  const asked = new Map<number, AbortController>()
  const send = (message: FromThread): void => port.postMessage(message)
  const work = new ModelWork(settings, new ExitGuard(settings.guard), {
    loaded: (model, durationMs) => send({ kind: 'loaded', model, durationMs }),
  })

  const answerTo = (question: Question, asker: Entrant) => {
    switch (question.kind) {
      case 'embed':
        return work.embed(question.texts, asker)
      case 'rerank':
        return work.rerank(question.query, question.passages, asker)
    }
  }

  const answer = async ({ id, principalName, question }: Ask): Promise<void> => {
    const controller = new AbortController()
    asked.set(id, controller)
    try {
      const asker = { principalName, signal: controller.signal }
      send({ kind: 'answered', id, answer: await answerTo(question, asker) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // An aborted request does not wait for a result, so it gets no error.
      if (!controller.signal.aborted) send({ kind: 'failed', id, reason })
    } finally {
      asked.delete(id)
    }
  }

  const close = async (): Promise<void> => {
    for (const controller of asked.values()) controller.abort()
    await work.close()
    port.close()
  }

  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'ask':
        void answer(message)
        return
      case 'drop':
        asked.get(message.id)?.abort()
        return
      case 'close':
        void close()
        return
    }
  })
}

if (parentPort !== null) serve(parentPort, workerData as ThreadSettings)
