/** Consistency levels by purpose of a statement. */

export const levels = [
  ...(['ONE', 'LOCAL_ONE', 'QUORUM', 'LOCAL_QUORUM', 'EACH_QUORUM', 'ALL'] as const),
]
export const serialLevels = ['SERIAL', 'LOCAL_SERIAL'] as const

export type ConsistencyLevel = (typeof levels)[number]
export type SerialLevel = (typeof serialLevels)[number]

export interface Consistency {
  readonly read: ConsistencyLevel
  readonly write: ConsistencyLevel
  readonly search: ConsistencyLevel
  readonly serial: SerialLevel
}

export const defaultConsistency: Consistency = {
  read: 'LOCAL_QUORUM',
  write: 'LOCAL_QUORUM',
  // Cassandra supports vector search at consistency ONE and LOCAL_ONE only.
  search: 'LOCAL_ONE',
  serial: 'LOCAL_SERIAL',
}

/**
 * Level for state that servers share. The levels configured for data do not apply to it, because
 * every server must see changes soon.
 */
export function levelOfSettings({ serial }: Consistency): ConsistencyLevel {
  return serial === 'SERIAL' ? 'QUORUM' : 'LOCAL_QUORUM'
}
