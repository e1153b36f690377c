import type { Picks } from '../documents.ts'
import { insertOne } from './insert-one.ts'
import type { Workload } from './workload.ts'

export const insertMany: Workload = {
  name: 'insert-many',
  says: 'insertMany of 100',
  requests: 'once',
  body: (picks) => insertManyBody(picks, 100),
  against: [
    { to: 'sqlite', write: 'insert 100', target: 0.5 },
    { to: 'workload', workload: insertOne, target: 5 },
  ],
}

export function insertManyBody(picks: Picks, count: number): string {
  const documents = Array.from({ length: count }, () => picks.newDocument())
  return `{"insertMany":{"documents":[${documents.join(',')}]}}`
}
