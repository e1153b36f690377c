import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Config } from '../../src/settings/config.ts'
import { defaultLimits, type Limits } from '../../src/limits.ts'
import { startServer, type TestServer } from '../harness.ts'

/** A server that runs during all tests of the file or `describe` block that creates this object. */
export class RunningServer {
  #server: TestServer | undefined

  constructor(
    limits: Partial<Limits> = {},
    config: Partial<Config> = {},
    prepare: (server: TestServer) => Promise<unknown> = () => Promise.resolve(),
  ) {
    const wanted = { ...config, limits: { ...defaultLimits, ...limits } }
    before(async () => {
      this.#server = await startServer(wanted)
      await prepare(this.#server)
    })
    after(() => this.server.close())
  }

  get server(): TestServer {
    assert(this.#server, 'the server runs from the first test to the last')
    return this.#server
  }

  /** Replaces the server by a new one on the same data. */
  async restart(): Promise<void> {
    this.#server = await this.server.restart()
  }
}
