/** How many copies must answer, by what is asked. */

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
  // Clusters order by nearness with one copy only.
  search: 'LOCAL_ONE',
  serial: 'LOCAL_SERIAL',
}

/** Of what servers share, whatever data is read and written with: all must soon know of it. */
export function levelOfSettings({ serial }: Consistency): ConsistencyLevel {
  return serial === 'SERIAL' ? 'QUORUM' : 'LOCAL_QUORUM'
}
