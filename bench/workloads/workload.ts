/** Interface of a workload: its requests and its baselines. */
import type { Picks } from '../documents.ts'

export interface Workload {
  /** Name of the workload on the command line, and of its file in this folder. */
  readonly name: string
  readonly says: string
  /** `repeat`: requests are repeated; `once`: each request is created for a single use. */
  readonly requests: 'repeat' | 'once'
  /** The body of the next request. */
  body(picks: Picks): string
  readonly against: readonly Comparison[]
  /** Maximum growth of the time per request for ten times the data. */
  readonly growthMax?: number
}

/** A baseline, and the minimum rate relative to it. */
export type Comparison = Baseline & { readonly target?: number }

export type Baseline =
  /** A bare Fastify route: the same request and reply without any work. */
  | { readonly to: 'fastify' }
  /** The same rows, written durably by `node:sqlite` in a loop. */
  | { readonly to: 'sqlite'; readonly write: RawWrite }
  /** Another workload on the same server. */
  | { readonly to: 'workload'; readonly workload: Workload }

export type RawWrite = 'insert one' | 'insert 100' | 'increment'
