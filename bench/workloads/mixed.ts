import { findOne } from './find-one.ts'
import { updateOne } from './update-one.ts'
import type { Workload } from './workload.ts'

export const mixed: Workload = {
  name: 'mixed',
  says: '95 % findOne, 5 % updateOne',
  requests: 'repeat',
  body: (picks) => (picks.chance(0.05) ? updateOne : findOne).body(picks),
  against: [{ to: 'fastify' }],
}
