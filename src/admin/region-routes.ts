/** What a database can be asked for to be in, and with. */
import { regions } from './regions.ts'
import type { AdminRoute } from './route.ts'

/** Filters by kind and by organization leave out nothing: all regions serve everybody. */
export const regionRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/regions/serverless',
    run: () => ({
      status: 200,
      body: regions.map((region) => ({
        ...region,
        classification: 'standard',
        enabled: true,
        reservedForQualifiedUsers: false,
        region_type: 'vector',
      })),
    }),
  },
  {
    method: 'GET',
    path: '/availableRegions',
    run: () => ({
      status: 200,
      body: regions.map(({ name, displayName, cloudProvider, zone }) => ({
        tier: 'serverless',
        cloudProvider,
        region: name,
        regionDisplay: displayName,
        regionContinent: zone,
      })),
    }),
  },
  // Groups of reserved capacity: nothing is reserved here.
  { method: 'POST', path: '/pcus/actions/get', run: () => ({ status: 200, body: [] }) },
]
