/** Statements of the specification as values, and the areas that they are grouped in. */
import type { Api } from './api.ts'

/** One sentence of the specification, and the request that shows that it holds. */
export interface Statement {
  /** Stable: a new statement takes a new id, and no id is used again. */
  readonly id: string
  /** Section of the specification. */
  readonly section: string
  readonly says: string
  readonly run: (api: Api) => Promise<void>
  readonly deviation?: Deviation
}

/** A statement that deliberately does not hold. */
export interface Deviation {
  /** The engine that deviates; undefined: both do. */
  readonly on?: EngineName
  /** Number in docs/differences.md. */
  readonly difference: number
  /** What happens instead. */
  readonly says: string
  /** Replaces the function of the statement on the engine. */
  readonly run?: (api: Api) => Promise<void>
}

export type EngineName = 'embedded' | 'cassandra'

/** Statements that share collections and tables. */
export interface Area {
  readonly name: string
  /** Creates what the statements share. A statement changes only records of its own. */
  readonly prepare: (api: Api) => Promise<void>
  readonly statements: readonly Statement[]
}
