import type { Workload } from './workload.ts'

export const updateOne: Workload = {
  name: 'update-one',
  says: 'updateOne by _id, $inc',
  requests: 'repeat',
  body: (picks) =>
    `{"updateOne":{"filter":{"_id":"${picks.id()}"},"update":{"$inc":{"age":1}}}}`,
  against: [{ to: 'sqlite', write: 'increment' }],
}
