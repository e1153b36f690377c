import type { AdminRoute } from './route.ts'

/** All of a server belongs to one organization, which every token may know. */
export const organizationRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/currentOrg',
    run: ({ services }) => ({ status: 200, body: { id: services.databases.organization } }),
  },
]
