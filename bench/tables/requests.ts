/** Requests for the readings over HTTP. `baselines/raw-tables.ts` has the same requests in SQL. */
import { batchSize } from '../dataset.ts'
import { foundMax, instant, type Readings } from './readings.ts'

export interface TableRequest {
  readonly kind: 'point' | 'range' | 'indexed' | 'insert'
  readonly says: string
  body(readings: Readings): string
  /** Maximum growth of the time per request for ten times the rows. */
  readonly growthMax?: number
  /** Whether the request is also compared with a bare Fastify route. */
  readonly againstFastify?: true
}

const limit = `"options":{"limit":${foundMax}}`

export const reads: readonly TableRequest[] = [
  {
    kind: 'point',
    says: 'findOne by the whole key',
    body: (readings) => {
      const { sensor, atMs } = readings.key()
      return `{"findOne":{"filter":{"sensor":"${sensor}","at":"${instant(atMs)}"}}}`
    },
    growthMax: 1.5,
    againstFastify: true,
  },
  {
    kind: 'range',
    says: `find ${foundMax} of a partition by a range`,
    body: (readings) => {
      const { sensor, atMs, endMs } = readings.range()
      const range = `{"$gte":"${instant(atMs)}","$lt":"${instant(endMs)}"}`
      return `{"find":{"filter":{"sensor":"${sensor}","at":${range}},${limit}}}`
    },
    growthMax: 2,
  },
  {
    kind: 'indexed',
    says: `find ${foundMax} by an indexed column`,
    body: (readings) => `{"find":{"filter":{"gateway":"${readings.gateway()}"},${limit}}}`,
    growthMax: 2,
  },
]

export const insert: TableRequest = {
  kind: 'insert',
  says: `insertMany of ${batchSize}`,
  body: (readings) => readings.insertBody(batchSize),
}
