/** Lists the regions and providers that a new database may name. */
import { regions } from './regions.ts'
import type { AdminRoute } from './route.ts'

/**
 * The parameters that filter by kind and by organization have no effect: all regions are available
 * to every organization.
 */
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
  // Groups of reserved capacity. This server has no such groups, so the list is empty.
  { method: 'POST', path: '/pcus/actions/get', run: () => ({ status: 200, body: [] }) },
]
