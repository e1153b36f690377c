import type { Workload } from './workload.ts'

export const insertOne: Workload = {
  name: 'insert-one',
  says: 'insertOne',
  requests: 'once',
  body: (picks) => `{"insertOne":{"document":${picks.newDocument()}}}`,
  against: [{ to: 'sqlite', write: 'insert one' }],
}
