/**
 * Versions of documents: time-based ids, which rise with every write. Documents that plain CQL
 * wrote have none until Stela changes them.
 */
import { types } from 'cassandra-driver'
import type { Statement } from '../cluster/statement.ts'

/** What a document without one has as its version. */
export const noVersion = 'none'

/** Of a row that holds a document. */
export function versionIn(row: types.Row): string {
  const version = row['tx_id'] as types.TimeUuid | null
  return version === null ? noVersion : String(version)
}

/** Later than the version before, whatever the clock says. */
export function versionAfter(before: string | undefined): types.TimeUuid {
  const now = types.TimeUuid.now()
  if (before === undefined || before === noVersion) return now
  const last = types.TimeUuid.fromString(before).getDate()
  return now.getDate() > last ? now : types.TimeUuid.fromDate(new Date(last.getTime() + 1))
}

/** Microseconds since 1970. */
export function timestampOf(version: types.TimeUuid): bigint {
  const { date, ticks } = version.getDatePrecision()
  return BigInt(date.getTime()) * 1_000n + BigInt(Math.floor(ticks / 10))
}

/** Undefined: nobody knows when it was written. */
export function timestampIn(version: string): bigint | undefined {
  return version === noVersion ? undefined : timestampOf(types.TimeUuid.fromString(version))
}

/**
 * That a document still has the version, as part of a conditional write. Nothing at all would
 * pass for a document without one, so there has to be one.
 */
export function ifVersion(version: string): Statement {
  return version === noVersion
    ? { text: 'IF tx_id = null AND doc_json != null', values: [] }
    : { text: 'IF tx_id = ?', values: [types.TimeUuid.fromString(version)] }
}
