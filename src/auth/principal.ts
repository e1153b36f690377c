/** What a command does to what it acts on; permissions hang on it. */
export type Effect = 'read' | 'write' | 'schema'

/** Who is asking, as established from the token. */
export interface Principal {
  /** As logs show it; never the token. */
  readonly name: string
  /** Roles will narrow this; today every known token may do everything. */
  may(effect: Effect, keyspace: string | undefined, target: string | undefined): boolean
}

/** Somebody who may do everything. */
export function administrator(name: string): Principal {
  return { name, may: () => true }
}
