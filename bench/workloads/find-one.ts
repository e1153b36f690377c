import type { Workload } from './workload.ts'

export const findOne: Workload = {
  name: 'find-one',
  says: 'findOne by _id',
  requests: 'repeat',
  body: (picks) => `{"findOne":{"filter":{"_id":"${picks.id()}"}}}`,
  against: [{ to: 'fastify', target: 0.7 }],
  growthMax: 1.5,
}
