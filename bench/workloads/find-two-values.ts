import type { Workload } from './workload.ts'

export const findTwoValues: Workload = {
  name: 'find-two-values',
  says: 'find 20 by two values that seldom occur together',
  requests: 'repeat',
  body: (picks) =>
    `{"find":{"filter":{"city":"${picks.city()}","age":${picks.age()}},"options":{"limit":20}}}`,
  against: [{ to: 'fastify' }],
  growthMax: 2,
}
