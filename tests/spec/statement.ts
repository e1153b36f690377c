/** Statements of the specification as values, grouped in areas. */
import type { Api } from './api.ts'

/** One sentence of the specification, and a request that verifies it. */
export interface Statement {
  /** The id is stable: new statements get new ids, and ids are never reused. */
  readonly id: string
  /** Section of the specification. */
  readonly section: string
  readonly says: string
  readonly run: (api: Api) => Promise<void>
  readonly deviation?: Deviation
}

/** A statement that deliberately does not hold on an engine. */
export interface Deviation {
  /** The engine that deviates; undefined: both engines. */
  readonly on?: EngineName
  /** Number in docs/differences.md. */
  readonly difference: number
  /** The actual behaviour. */
  readonly says: string
  /** Replaces the `run` of the statement on this engine. */
  readonly run?: (api: Api) => Promise<void>
}

export type EngineName = 'embedded' | 'cassandra'

/** Statements that share collections and tables. */
export interface Area {
  readonly name: string
  /** Creates the targets that the statements share. A statement changes only its own records. */
  readonly prepare: (api: Api) => Promise<void>
  readonly statements: readonly Statement[]
}
