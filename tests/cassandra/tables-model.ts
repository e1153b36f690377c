/**
 * The model of tables on a cluster: random commands on random tables through two servers, compared
 * with rows in a plain Map.
 */
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { Random, seed, times } from '../model/random.ts'
import { Model } from '../model/tables-model.ts'
import { clusterVocabulary } from '../model/tables-schema.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const tables = 6 * times
const stepsPerTable = 60

/** Milliseconds after which both servers have noticed a schema change. */
const agreedAfterMs = 1_100

const changesSchema = /^\{"(?:create|drop|alter)/

describe(`tables on a cluster behave like a plain Map, seed ${seed}`, () => {
  let keyspaces: TestKeyspaces
  const engines: Engine[] = []
  const servers: TestServer[] = []
  before(async () => {
    keyspaces = await TestKeyspaces.make()
    for (let i = 0; i < 2; i++) {
      const engine = await keyspaces.open()
      engines.push(engine)
      servers.push(await startServer({ checked: false }, engine))
    }
  })
  after(async () => {
    for (const server of servers) await server.close()
    for (const engine of engines) await engine.close()
    await keyspaces.remove()
  })

  for (let table = 0; table < tables; table++)
    test(`table ${table} returns the rows of the model, seed ${seed + table}`, async () => {
      const random = new Random(seed + table)
      const service = {
        async send(path: string, body: string) {
          const answer = await random.pick(servers).command(path, body)
          if (changesSchema.test(body)) await sleep(agreedAfterMs)
          return answer
        },
        restart: () => Promise.resolve(),
      }
      const options = { vocabulary: clusterVocabulary }
      const model = new Model(service, seed + table, `t${table}`, options)
      await model.run(stepsPerTable)
    })
})
