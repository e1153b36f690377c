import type { Workload } from './workload.ts'

export const findSorted: Workload = {
  name: 'find-sorted',
  says: 'find the first 20 in order of score',
  requests: 'repeat',
  body: (picks) =>
    `{"find":{"sort":{"score":${picks.chance(0.5) ? 1 : -1}},"options":{"limit":20}}}`,
  against: [{ to: 'fastify' }],
  growthMax: 2,
}
