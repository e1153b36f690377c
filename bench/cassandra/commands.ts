/**
 * The commands of the cluster benchmark. `baselines/raw-cassandra.ts` contains the corresponding
 * statements.
 */
import type { ClusterPicks } from './documents.ts'

export type CommandKind =
  | 'findOne'
  | 'findEqual'
  | 'findTwo'
  | 'count'
  | 'increment'
  | 'insertOne'
  | 'insertMany'
  | 'nearest'
  | 'nearestFiltered'

export interface ClusterCommand {
  readonly kind: CommandKind
  readonly says: string
  /** `repeat`: requests are repeated; `once`: each request is created for a single use. */
  readonly requests: 'repeat' | 'once'
  readonly body: (picks: ClusterPicks) => string
  /** Minimum rate relative to the rate of the driver. */
  readonly target?: number
  /**
   * Requests per second of the reference server, on a node like the measured one, by number of
   * connections.
   */
  readonly reference: Readonly<Record<number, number>>
  /**
   * Maximum number of statements per command if each _id is a string and the cluster evaluates all
   * conditions.
   */
  readonly statementsMax?: number
}

export const foundMax = 20
export const insertedAtOnce = 50
export const nearestMax = 10

const limit = (count: number) => `"options":{"limit":${count}}`

/** Commands in order of execution. Commands that insert documents come last. */
export const commands: readonly ClusterCommand[] = [
  {
    kind: 'findOne',
    says: 'findOne by _id',
    requests: 'repeat',
    body: (picks) => `{"findOne":{"filter":{"_id":"${picks.id()}"}}}`,
    target: 0.7,
    reference: { 1: 223, 16: 785 },
    statementsMax: 1,
  },
  {
    kind: 'findEqual',
    says: `find ${foundMax} by an equality`,
    requests: 'repeat',
    body: (picks) => `{"find":{"filter":{"city":"${picks.city()}"},${limit(foundMax)}}}`,
    target: 0.5,
    reference: { 1: 173, 16: 298 },
    statementsMax: 1,
  },
  {
    kind: 'findTwo',
    says: `find ${foundMax} by two conditions`,
    requests: 'repeat',
    body: (picks) =>
      `{"find":{"filter":{"city":"${picks.city()}","active":true},${limit(foundMax)}}}`,
    target: 0.5,
    reference: { 1: 206, 16: 311 },
    statementsMax: 1,
  },
  {
    kind: 'count',
    says: 'countDocuments of a hundredth',
    requests: 'repeat',
    body: (picks) => `{"countDocuments":{"filter":{"city":"${picks.city()}"}}}`,
    reference: { 1: 58, 16: 108 },
  },
  {
    kind: 'nearest',
    says: `find the ${nearestMax} nearest`,
    requests: 'repeat',
    body: (picks) => `{"find":{"sort":{"$vector":${picks.vector()}},${limit(nearestMax)}}}`,
    reference: { 1: 55, 16: 222 },
    statementsMax: 1,
  },
  {
    kind: 'nearestFiltered',
    says: `find the ${nearestMax} nearest of a hundredth`,
    requests: 'repeat',
    body: (picks) =>
      `{"find":{"filter":{"city":"${picks.city()}"},"sort":{"$vector":${picks.vector()}},` +
      `${limit(nearestMax)}}}`,
    reference: { 1: 13, 16: 47 },
    statementsMax: 1,
  },
  {
    kind: 'increment',
    says: 'updateOne by _id, $inc',
    requests: 'repeat',
    body: (picks) =>
      `{"updateOne":{"filter":{"_id":"${picks.id()}"},"update":{"$inc":{"age":1}}}}`,
    reference: { 1: 126, 16: 310 },
    statementsMax: 2,
  },
  {
    kind: 'insertOne',
    says: 'insertOne',
    requests: 'once',
    body: (picks) => `{"insertOne":{"document":${picks.newDocument()}}}`,
    target: 0.7,
    reference: { 1: 237, 16: 456 },
    statementsMax: 1,
  },
  {
    kind: 'insertMany',
    says: `insertMany of ${insertedAtOnce}`,
    requests: 'once',
    body: (picks) => insertManyBody(picks, insertedAtOnce),
    reference: { 1: 11.7, 16: 12.3 },
    statementsMax: insertedAtOnce,
  },
]

export function insertManyBody(picks: ClusterPicks, count: number): string {
  const documents = Array.from({ length: count }, () => picks.newDocument())
  return `{"insertMany":{"documents":[${documents.join(',')}]}}`
}
