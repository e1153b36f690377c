import type { Workload } from './workload.ts'

export const findSortedFiltered: Workload = {
  name: 'find-sorted-filtered',
  says: 'find the first 20 of a city in order of score',
  requests: 'repeat',
  body: (picks) =>
    `{"find":{"filter":{"city":"${picks.city()}"},"sort":{"score":1},"options":{"limit":20}}}`,
  against: [{ to: 'fastify' }],
  growthMax: 2,
}
