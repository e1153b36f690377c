/**
 * Regions that clients may name. A region is only stored and returned, for clients that
 * require one; every database is in this server.
 */
import { homeProvider, homeRegion } from '../databases/databases.ts'

export interface Region {
  readonly name: string
  readonly displayName: string
  readonly cloudProvider: CloudProvider
  readonly zone: 'na' | 'emea' | 'apac' | 'sa'
}

const cloudProviders = ['AWS', 'GCP', 'AZURE'] as const

export type CloudProvider = (typeof cloudProviders)[number]

export const regions: readonly Region[] = [
  region(homeRegion, 'This server', homeProvider, 'na'),
  region('us-east-1', 'US East (Virginia)', 'AWS', 'na'),
  region('us-east-2', 'US East (Ohio)', 'AWS', 'na'),
  region('us-west-2', 'US West (Oregon)', 'AWS', 'na'),
  region('eu-west-1', 'Europe (Ireland)', 'AWS', 'emea'),
  region('eu-central-1', 'Europe (Frankfurt)', 'AWS', 'emea'),
  region('ap-south-1', 'Asia (Mumbai)', 'AWS', 'apac'),
  region('sa-east-1', 'South America (São Paulo)', 'AWS', 'sa'),
  region('us-east1', 'US East (South Carolina)', 'GCP', 'na'),
  region('us-central1', 'US Central (Iowa)', 'GCP', 'na'),
  region('europe-west4', 'Europe (Netherlands)', 'GCP', 'emea'),
  region('eastus', 'US East (Virginia)', 'AZURE', 'na'),
  region('westus3', 'US West (Arizona)', 'AZURE', 'na'),
  region('westeurope', 'Europe (Netherlands)', 'AZURE', 'emea'),
]

function region(
  name: string,
  displayName: string,
  cloudProvider: CloudProvider,
  zone: Region['zone'],
): Region {
  return { name, displayName, cloudProvider, zone }
}

/** The zone of a region. Unknown regions get the zone "na". */
export function zoneOf(name: string): Region['zone'] {
  return regions.find((known) => known.name === name)?.zone ?? 'na'
}

/** The canonical spelling of a provider; undefined when it is unknown. */
export function providerNamed(name: unknown): CloudProvider | undefined {
  if (typeof name !== 'string') return undefined
  return cloudProviders.find((known) => known === name.toUpperCase())
}
