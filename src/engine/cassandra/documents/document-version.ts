/**
 * Versions of documents: time-based UUIDs that increase with every write. Documents written with
 * plain CQL have no version until Stela changes them.
 */
import { types } from 'cassandra-driver'
import type { Statement } from '../cluster/statement.ts'

/** Version of a document without a version id. */
export const noVersion = 'none'

/** Version of the document in a row. The row must contain a document. */
export function versionIn(row: types.Row): string {
  const version = row['tx_id'] as types.TimeUuid | null
  return version === null ? noVersion : String(version)
}

/** A version later than `before`, even if the clock was set back. */
export function versionAfter(before: string | undefined): types.TimeUuid {
  const now = types.TimeUuid.now()
  if (before === undefined || before === noVersion) return now
  const last = types.TimeUuid.fromString(before).getDate()
  return now.getDate() > last ? now : types.TimeUuid.fromDate(new Date(last.getTime() + 1))
}

/** Time of a version, in microseconds since 1970. */
export function timestampOf(version: types.TimeUuid): bigint {
  const { date, ticks } = version.getDatePrecision()
  return BigInt(date.getTime()) * 1_000n + BigInt(Math.floor(ticks / 10))
}

/** Time of a version in microseconds since 1970; undefined: the time of the write is unknown. */
export function timestampIn(version: string): bigint | undefined {
  return version === noVersion ? undefined : timestampOf(types.TimeUuid.fromString(version))
}

/**
 * Condition of a write: the document still has this version. A missing row also satisfies tx_id =
 * null, so the document itself must exist.
 */
export function ifVersion(version: string): Statement {
  return version === noVersion
    ? { text: 'IF tx_id = null AND doc_json != null', values: [] }
    : { text: 'IF tx_id = ?', values: [types.TimeUuid.fromString(version)] }
}
