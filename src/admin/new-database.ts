/** Parses the body of a request that creates a database. */
import { homeProvider, homeRegion, type NewDatabase } from '../databases/databases.ts'
import type { Limits } from '../limits.ts'
import { isKeyspaceName } from './keyspace-name.ts'
import { Refusal } from './refusal.ts'
import { providerNamed } from './regions.ts'

/**
 * Parses the fields of a new database. Ignores fields that only state a capacity. Every database
 * supports vectors, so any `dbType` other than "vector" is rejected.
 */
export function readNewDatabase(
  fields: Readonly<Record<string, unknown>>,
  limits: Limits,
): NewDatabase {
  const { dbType, pcuGroupUUID } = fields
  if (given(dbType) && dbType !== 'vector')
    throw new Refusal(422, 'dbType must be "vector": all databases here have vectors')
  if (given(pcuGroupUUID))
    throw new Refusal(422, 'pcuGroupUUID cannot be used: this server has no capacity units')
  return {
    name: readName(fields['name'], limits),
    keyspace: readKeyspace(fields['keyspace'], limits),
    cloudProvider: readProvider(fields['cloudProvider']),
    region: readRegion(fields['region']),
  }
}

function given(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function readName(value: unknown, { databaseNameLengthMax: max }: Limits): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > max)
    throw new Refusal(400, `name must be a string of 1 to ${max} characters`)
  return value
}

function readKeyspace(value: unknown, limits: Limits): string {
  if (!given(value)) return 'default_keyspace'
  if (!isKeyspaceName(value, limits))
    throw new Refusal(
      400,
      `keyspace must have 1 to ${limits.nameLengthMax} letters, digits and underscores`,
    )
  return value
}

function readProvider(value: unknown): string {
  if (!given(value)) return homeProvider
  const provider = providerNamed(value)
  if (provider === undefined)
    throw new Refusal(400, 'cloudProvider must be AWS, GCP or AZURE')
  return provider
}

/**
 * Parses the region. Permits only characters of host names, because clients build host names from
 * the region.
 */
function readRegion(value: unknown): string {
  if (!given(value)) return homeRegion
  if (typeof value !== 'string' || !/^[a-z0-9-]{1,50}$/i.test(value))
    throw new Refusal(400, 'region must have 1 to 50 letters, digits and dashes')
  return value
}
