/**
 * Runs that make documents searchable. A run continues while the user visits other pages of the
 * console, so the runs are kept by collection.
 */
import { command, CommandError } from '../api/command.ts'
import { patiently } from '../api/patience.ts'
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import type { Printable, Value } from '../json/value.ts'
import { printJson } from '../json/print-json.ts'
import {
  embedDocuments,
  type CommandTree,
  type EmbedCounts,
  type EmbedReply,
} from '../../searchable/embed-documents.ts'
import type { TextTemplate } from '../../searchable/text-template.ts'
import { printNumeral } from './console-template.ts'

export interface EmbedState {
  readonly phase: 'running' | 'stopping' | 'done' | 'stopped' | 'failed'
  readonly counts: EmbedCounts | undefined
  /** Number of documents to read; undefined if the server counts no further. */
  readonly total: number | undefined
  readonly elapsedMs: number
  /** The first failed documents. */
  readonly failures: readonly ShownFailure[]
  readonly error?: unknown
}

export interface ShownFailure {
  /** The _id as JSON. */
  readonly id: string
  readonly message: string
}

export interface RunningEmbed {
  readonly state: Store<EmbedState>
  readonly ended: Promise<void>
  stop(): void
}

export interface EmbedChoice {
  readonly template: TextTemplate
  readonly filter: Value | undefined
  readonly refreshes: boolean
  readonly total: number | undefined
}

/** The latest run of each collection. */
export const embedRuns = new Store<ReadonlyMap<string, RunningEmbed>>(new Map())

export function keyOfRun({ database, keyspace, name }: Place): string {
  return `${database}/${keyspace}/${name}`
}

/** Forgets a run that has ended. */
export function forgetRun(place: Place): void {
  embedRuns.update((before) => {
    const runs = new Map(before)
    runs.delete(keyOfRun(place))
    return runs
  })
}

/** Requests in flight. */
const concurrency = 4

/** Maximum number of failed documents to show. */
const failuresMax = 100

export function startEmbed(place: Place, choice: EmbedChoice): RunningEmbed {
  const { template, filter, refreshes, total } = choice
  const state = new Store<EmbedState>({
    phase: 'running',
    counts: undefined,
    total,
    elapsedMs: 0,
    failures: [],
  })
  const controller = new AbortController()
  const startedAt = performance.now()
  const update = (more: Partial<EmbedState>) => {
    const elapsedMs = performance.now() - startedAt
    state.update((before) => ({ ...before, elapsedMs, ...more }))
  }
  const run = async () => {
    await embedDocuments({
      template,
      collection: place.options,
      filter,
      refreshes,
      concurrency,
      printNumber: printNumeral,
      send: (tree) => sendTree(place, tree),
      onProgress: (counts) => update({ counts }),
      onFailure: ({ id, message }) => {
        const { failures } = state.get()
        const failure = { id: printJson(id as Value), message }
        if (failures.length < failuresMax) update({ failures: [...failures, failure] })
      },
      signal: controller.signal,
    })
    update({ phase: controller.signal.aborted ? 'stopped' : 'done' })
  }
  const ended = run().catch((error: unknown) => update({ phase: 'failed', error }))
  const running: RunningEmbed = {
    state,
    ended,
    stop() {
      if (state.get().phase !== 'running') return
      controller.abort()
      update({ phase: 'stopping' })
    },
  }
  embedRuns.update((before) => new Map(before).set(keyOfRun(place), running))
  return running
}

/** Sends a command. Errors that concern a single document are in the reply. */
async function sendTree(place: Place, tree: CommandTree): Promise<EmbedReply> {
  const [[name, fields]] = [...tree] as [[string, Printable]]
  try {
    const reply = await patiently(() => command(place, name, fields))
    const { nextPageState } = reply.data
    return {
      documents: reply.documents,
      nextPageState: nextPageState ?? undefined,
      errors: [],
    }
  } catch (error) {
    if (!(error instanceof CommandError) || error.httpStatus !== 200) throw error
    const errors = error.errors.map(({ errorCode: code, message }) => ({ code, message }))
    if (error.isForbidden || errors.length === 0) throw error
    return { documents: [], nextPageState: undefined, errors }
  }
}
