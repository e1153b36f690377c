import type { Workload } from './workload.ts'

export const findTwoConditions: Workload = {
  name: 'find-two-conditions',
  says: 'find 20 by two conditions',
  requests: 'repeat',
  body: (picks) =>
    `{"find":{"filter":{"city":"${picks.city()}","age":{"$gte":40}},"options":{"limit":20}}}`,
  against: [{ to: 'fastify' }],
  growthMax: 2,
}
