/** Filters and pages the list of databases. */
import type { DatabaseInfo } from '../databases/databases.ts'
import type { Limits } from '../limits.ts'
import { providerNamed } from './regions.ts'
import { Refusal } from './refusal.ts'

/** Returns the page that the query selects from `visible`, the databases that the token may see. */
export function pageOfDatabases(
  visible: readonly DatabaseInfo[],
  query: Readonly<Record<string, unknown>>,
  limits: Limits,
): readonly DatabaseInfo[] {
  const isIncluded = readInclude(query['include'])
  const isOfProvider = readProvider(query['provider'])
  const limit = readLimit(query['limit'], limits)
  return visible
    .slice(readStart(query['starting_after'], visible))
    .filter((info) => isIncluded(info) && isOfProvider(info))
    .slice(0, limit)
}

const statuses = [
  ...['ACTIVE', 'ASSOCIATING', 'DECOMMISSIONING', 'DEGRADED', 'ERROR', 'HIBERNATED'],
  ...['HIBERNATING', 'INITIALIZING', 'MAINTENANCE', 'PARKED', 'PARKING', 'PENDING'],
  ...['PREPARED', 'PREPARING', 'RESIZING', 'RESUMING', 'SYNCHRONIZING', 'TERMINATED'],
  ...['TERMINATING', 'UNKNOWN', 'UNPARKING'],
]

type Condition = (info: DatabaseInfo) => boolean

/**
 * Parses `include`, the status of the databases to list. Accepts any case and ignores underscores,
 * because clients write "nonterminated" differently.
 */
function readInclude(value: unknown): Condition {
  const wanted = value === undefined ? 'NONTERMINATED' : plain(value)
  if (wanted === 'ALL') return () => true
  if (wanted === 'NONTERMINATED') return ({ status }) => status !== 'TERMINATED'
  if (wanted !== undefined && statuses.includes(wanted))
    return ({ status }) => status === wanted
  throw new Refusal(400, 'include must be all, nonterminated or a status such as ACTIVE')
}

function plain(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toUpperCase().replaceAll('_', '') : undefined
}

function readProvider(value: unknown): Condition {
  if (value === undefined || plain(value) === 'ALL') return () => true
  const wanted = providerNamed(value)
  if (wanted === undefined)
    throw new Refusal(400, 'provider must be ALL, AWS, GCP or AZURE')
  return ({ cloudProvider }) => cloudProvider === wanted
}

function readLimit(value: unknown, limits: Limits): number {
  const { databasesPageSize, databasesPageMax: max } = limits
  if (value === undefined) return databasesPageSize
  const limit = Number(value)
  if (typeof value !== 'string' || !/^\d+$/.test(value) || limit < 1 || limit > max)
    throw new Refusal(400, `limit must be a whole number from 1 to ${max}`)
  return limit
}

/**
 * The position at which the page starts: after the last database of the previous page, which the
 * client sends as an id. The list still contains this database if it was terminated meanwhile. An
 * unknown id is an error.
 */
function readStart(value: unknown, visible: readonly DatabaseInfo[]): number {
  if (value === undefined || value === '') return 0
  const id = typeof value === 'string' ? value.toLowerCase() : undefined
  const position = visible.findIndex((info) => info.id === id)
  if (position < 0)
    throw new Refusal(400, 'starting_after must be the id of a database in the list')
  return position + 1
}
