import type { Workload } from './workload.ts'

export const findValueAndRange: Workload = {
  name: 'find-value-and-range',
  says: 'find 20 by a value and a narrow range',
  requests: 'repeat',
  body: (picks) => {
    const age = picks.age()
    const range = `{"$gte":${age},"$lt":${age + 2}}`
    return `{"find":{"filter":{"city":"${picks.city()}","age":${range}},"options":{"limit":20}}}`
  },
  against: [{ to: 'fastify' }],
  growthMax: 2,
}
