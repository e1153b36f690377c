/** Registers a test for each statement of the specification, on a server of one engine. */
import { after, before, describe, test } from 'node:test'
import type { Config } from '../../src/settings/config.ts'
import { LetterModels } from '../commands/letter-models.ts'
import type { TestServer } from '../harness.ts'
import { Api } from './api.ts'
import { areas } from './areas.ts'
import type { Deviation, EngineName, Statement } from './statement.ts'

/** Starts servers on one engine. */
export interface Servers {
  readonly start: (config: Partial<Config>) => Promise<TestServer>
  readonly close: () => Promise<void>
}

export function checkStatements(engine: EngineName, open: () => Promise<Servers>): void {
  // Areas run concurrently: they share only the server, and spend most of their time waiting for
  // it.
  describe(`the specification on the ${engine} engine`, { concurrency: true }, () => {
    let servers: Servers
    let models: LetterModels
    let api: Api

    before(async () => {
      servers = await open()
      models = await LetterModels.start()
      const config = { providers: models.settings, adminPort: 0 }
      api = new Api(await servers.start(config), servers.start)
    })

    after(async () => {
      await api.server.close()
      await models.close()
      await servers.close()
    })

    for (const area of areas)
      describe(area.name, { concurrency: false }, () => {
        before(() => area.prepare(api))
        for (const statement of area.statements) {
          const deviation = deviationOn(engine, statement)
          const run = deviation?.run ?? statement.run
          test(titleOf(statement, deviation), () => run(api))
        }
      })
  })
}

function deviationOn(engine: EngineName, { deviation }: Statement): Deviation | undefined {
  return (deviation?.on ?? engine) === engine ? deviation : undefined
}

function titleOf({ id, section, says }: Statement, deviation?: Deviation): string {
  const title = `${id}, section ${section}: ${says}`
  if (deviation === undefined) return title
  return `${title}; difference ${deviation.difference}: ${deviation.says}`
}
