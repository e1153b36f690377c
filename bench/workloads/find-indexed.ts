import type { Workload } from './workload.ts'

export const findIndexed: Workload = {
  name: 'find-indexed',
  says: 'find 20 by an indexed field',
  requests: 'repeat',
  body: (picks) => `{"find":{"filter":{"city":"${picks.city()}"},"options":{"limit":20}}}`,
  against: [{ to: 'fastify', target: 0.5 }],
  growthMax: 2,
}
