/** What a workload is: the requests to send, and what their rate is held against. */
import type { Picks } from '../documents.ts'

export interface Workload {
  /** As on the command line; also the name of the file. */
  readonly name: string
  readonly says: string
  /** Whether a request can be sent again: the other ones are made new each time. */
  readonly requests: 'repeat' | 'once'
  /** The body of the next request. */
  body(picks: Picks): string
  readonly against: readonly Comparison[]
  /** How much longer a request may take when the data is ten times as much. */
  readonly growthMax?: number
}

/** A baseline, and the least share of its rate that is good enough. */
export type Comparison = Baseline & { readonly target?: number }

export type Baseline =
  /** A bare Fastify route: same request, same reply, nothing in between. */
  | { readonly to: 'fastify' }
  /** The same rows written by `node:sqlite` in a loop, durably. */
  | { readonly to: 'sqlite'; readonly write: RawWrite }
  /** Another workload on the same server. */
  | { readonly to: 'workload'; readonly workload: Workload }

export type RawWrite = 'insert one' | 'insert 100' | 'increment'
