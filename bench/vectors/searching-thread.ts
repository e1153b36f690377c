/** A thread that searches a shared index. */
import { parentPort, workerData } from 'node:worker_threads'
import { Segment, type SharedSegment } from '../../src/search/vector/segment.ts'
import type { Tally } from '../drive.ts'
import { repeating } from '../turns.ts'
import { viewsOf } from './clusters.ts'
import { nearestExactly } from './stela-index.ts'

export interface SharedSearch {
  readonly segment: SharedSegment
  /** Thread number, from 1. */
  readonly thread: number
  readonly dimension: number
  readonly vectors: Float32Array
  readonly queries: Float32Array
  readonly breadth: number
}

/** Milliseconds for which the thread searches. */
export type SearchingQuestion = number
export type SearchingAnswer = Tally

const { segment, thread, dimension, vectors, queries, breadth } = workerData as SharedSearch
const own = Segment.attach(segment, thread)
const set = {
  dimension,
  vectors: viewsOf(vectors, dimension),
  queries: viewsOf(queries, dimension),
}
const searches = repeating('', set.queries.length, (query) =>
  nearestExactly(own, set, query, breadth),
)

parentPort!.on('message', (forMs: SearchingQuestion) => {
  void Promise.resolve(searches.run(forMs)).then((tally) =>
    parentPort!.postMessage(tally satisfies SearchingAnswer),
  )
})
