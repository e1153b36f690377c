/** Wires everything: the one place that names a concrete engine. */
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { Access } from './auth/access.ts'
import { Audit } from './auth/audit.ts'
import { Authenticator } from './auth/authenticator.ts'
import { Lockout } from './auth/lockout.ts'
import type { Config } from './config.ts'
import { Databases } from './databases/databases.ts'
import { checked } from './engine/checked.ts'
import { openEmbeddedEngine } from './engine/embedded/embedded-engine.ts'
import { buildApp } from './http/app.ts'
import { Arrivals } from './http/body.ts'
import { Metrics } from './http/metrics.ts'
import { Shutdown } from './http/shutdown.ts'
import { findLocalModels, nameLocalModels } from './providers/local/local-models.ts'
import { openModels } from './providers/open-models.ts'

export interface Server {
  /** Starts serving. Throws when the address is taken. */
  listen(): Promise<Listening>
  /** Finishes what runs, then closes the store. */
  close(): Promise<void>
}

export interface Listening {
  /** Where the server can be reached from this machine. */
  readonly url: string
  /** An administrator token, if this start had to make one: the only time it is shown. */
  readonly firstToken: string | undefined
}

export { checkEverything } from './engine/embedded/check.ts'

/** How many of the largest bodies all unfinished bodies may take together. */
const arrivingBodiesMax = 25

export async function build(config: Config): Promise<Server> {
  const { limits, features, dataDir, durable, requestTimeoutMs } = config
  const log = pino(
    { level: config.logLevel, base: null },
    pino.destination({ fd: 2, sync: true }),
  )
  const report = (level: 'info' | 'warn' | 'error', message: string) => log[level](message)
  const { searchThreads, localModels } = config
  const opened = await openEmbeddedEngine({ dataDir, durable, searchThreads, log: report })
  const engine = config.checked ? checked(opened) : opened
  const models = openModels({
    log: report,
    providers: config.providers,
    local: findLocalModels({ ...localModels, log: report }),
    localNames: nameLocalModels(localModels),
  })
  const databases = await Databases.open(engine, config.databasesMax)
  const access = await Access.open(engine, databases.organization, config)
  const lockout = new Lockout(config.badCredentialsMax)
  const authenticator = new Authenticator(access, lockout)
  const arrivals = new Arrivals(limits.bodySizeMax * arrivingBodiesMax)
  const shutdown = new Shutdown()
  const metrics = config.metrics === 'off' ? undefined : new Metrics()
  const app = buildApp(
    {
      engine,
      databases,
      limits,
      models,
      log,
      audit: new Audit(log),
      authenticator,
      features,
      arrivals,
      shutdown,
      metrics,
      slowCommandMs: config.slowCommandMs || Infinity,
      isBehindProxy: config.isBehindProxy,
    },
    {
      requestTimeoutMs,
      metricsAccess: config.metrics,
      ...(log.isLevelEnabled('debug') && {
        onAnswered: (request) => log.debug(request, 'Answered a request'),
      }),
    },
  )
  return {
    async listen() {
      await app.listen({ host: config.host, port: config.port })
      // Not before: a token made for a server that cannot listen would be shown to nobody.
      const firstToken = await authenticator.createFirstToken()
      const { port } = app.server.address() as AddressInfo
      return { url: urlOf(config.host, port), firstToken }
    },
    async close() {
      await shutdown.stop(app)
      await models.close()
      await engine.close()
    },
  }
}

/** Addresses that mean "all" cannot be connected to: they become the local one. */
function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`
  if (host === '::') return `http://[::1]:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
