/** Composition root: connects all parts of a server. */
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { pino, type Logger } from 'pino'
import { buildAdminApp } from './admin/admin-app.ts'
import { Access } from './auth/access.ts'
import { Audit } from './auth/audit.ts'
import { Authenticator } from './auth/authenticator.ts'
import { SignInCode } from './auth/sign-in-code.ts'
import { tokensOf } from './auth/store-accounts.ts'
import { TargetStores } from './commands/dispatch/target-stores.ts'
import { defaultConfig, type Config } from './settings/config.ts'
import { Databases } from './databases/databases.ts'
import { catalogFile } from './engine/embedded/catalog/catalog.ts'
import { openEmbeddedEngine } from './engine/embedded/engine.ts'
import type { Engine } from './engine/contract.ts'
import { EngineError } from './engine/errors.ts'
import { buildApp } from './http/app.ts'
import { ArrivalQueue } from './http/arrival-queue.ts'
import { Metrics, readVersion } from './http/metrics.ts'
import { CommandTimeouts } from './http/command-timeout.ts'
import { BodyReceiver } from './http/receive-body.ts'
import { ReplyWriter } from './http/reply-writer.ts'
import { Shutdown } from './http/shutdown.ts'
import { countsOf } from './caller/read-report.ts'
import { RecentSlowCommands } from './http/slow-commands.ts'
import { fixedLimits } from './limits.ts'
import { mcpProtocol } from './mcp/mcp.ts'
import { Turns } from './http/turns.ts'
import { findLocalModels, nameLocalModels } from './providers/local/local-models.ts'
import { openEngine } from './open-engine.ts'
import { openModels } from './providers/open-models.ts'
import { textLog } from './runtime/text-log.ts'
import { limitAnalyzerMemory } from './search/lexical/analyzer.ts'
import { localState, type SharedState } from './shared-state.ts'

export interface Server {
  /** Starts serving. Throws when the address is in use. */
  listen(): Promise<Listening>
  /** Waits for running commands, then closes the engine unless the caller owns it. */
  close(): Promise<void>
}

export interface Listening {
  /** URL of the server on this machine. */
  readonly url: string
  /** URL of the management API; undefined when it is disabled. */
  readonly adminUrl: string | undefined
  /** The administrator token, if this start created it. It cannot be read later. */
  readonly firstToken: string | undefined
  /**
   * Creates a link to the console that signs in once, from this machine. Undefined if the server
   * knows no token, has no console, or does not listen on a loopback address.
   */
  readonly createSignInLink: (() => string) | undefined
}

export { rebuildCatalog } from './engine/embedded/catalog/rebuild-catalog.ts'
export { checkEverything } from './engine/embedded/backup/check.ts'
export { restoreDataFolder } from './engine/embedded/backup/restore.ts'

/** Tokens, roles and users in the data folder of a stopped server. */
export interface OpenedAccess {
  readonly access: Access
  close(): Promise<void>
}

/**
 * Opens the access control of a data folder. Throws an EngineError when the folder does not exist
 * or a server uses it.
 */
export async function openAccess(dataDir: string): Promise<OpenedAccess> {
  if (!existsSync(join(dataDir, catalogFile)))
    throw new EngineError(
      'damaged',
      `${dataDir} is not a data folder: it has no ${catalogFile}`,
    )
  const log = () => undefined
  const engine = await openEmbeddedEngine({ dataDir, durable: true, searchThreads: 1, log })
  try {
    const { organization } = await Databases.open(engine, defaultConfig.databasesMax)
    const credentials = { adminToken: undefined, accounts: [] }
    const access = await Access.open(engine, organization, credentials)
    return { access, close: () => engine.close() }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/**
 * Builds a server on a given engine, which the caller owns and must close. Without a given engine,
 * the server opens the engine of the settings and closes it at the end. The state that several
 * servers share is local unless it is given. Tests pass `wrap` to assert the contract of the
 * engine.
 */
export async function build(
  config: Config,
  given?: Engine,
  shared: SharedState = localState(config),
  wrap: (engine: Engine) => Engine = (engine) => engine,
): Promise<Server> {
  const { limits, features, lexicalOperator } = config
  const log = openLog(config)
  const report = (level: 'info' | 'warn' | 'error', message: string) => log[level](message)
  const { localModels } = config
  limitAnalyzerMemory(limits.analyzerMemoryMax)
  const engine = wrap(given ?? (await openEngine(config, report)))
  const models = openModels({
    log: report,
    providers: config.providers,
    local: findLocalModels({ ...localModels, log: report }),
    localNames: nameLocalModels(localModels),
  })
  const databases = await Databases.open(engine, config.databasesMax)
  const access = await Access.open(engine, databases.organization, config)
  const { lockout, documentTurns, rateLimit } = shared
  const { commandRoom, bodyRoom, replyRoom, valueRoom } = shared
  const authenticator = new Authenticator(tokensOf(access, engine), lockout)
  const arrivals = new ArrivalQueue(config.addressLimits.rejectionRate)
  const audit = new Audit(log, (address) => arrivals.noteRejected(address))
  const shutdown = new Shutdown()
  const metrics = config.metrics === 'off' ? undefined : new Metrics(config.metricsCacheMs)
  const replies = new ReplyWriter(config.replyTimeoutMs, () => {
    metrics?.countUnread()
    log.debug('Closed a connection because its client does not read a reply')
  })
  const slowCommands = new RecentSlowCommands()
  const { requestTimeoutMs, connectionsMax, tls } = config
  const turns = new Turns()
  const listener = {
    ...{ requestTimeoutMs, connectionsMax, tls, log: report, arrivals },
    counter: metrics,
    addressLimits: config.addressLimits,
    onConnection: () => turns.noteConnection(),
  }
  const signInCode = new SignInCode()
  let url = ''
  const admin =
    config.adminPort === 'off'
      ? undefined
      : buildAdminApp(
          {
            engine,
            databases,
            access,
            audit,
            limits,
            log,
            authenticator,
            shutdown,
            turns,
            slowCommands,
            slowCommandMs: config.slowCommandMs,
            isBehindProxy: config.isBehindProxy,
            dataUrl: () => config.publicUrl ?? url,
          },
          listener,
        )
  const app = buildApp(
    {
      engine,
      databases,
      limits,
      models,
      documentTurns,
      lexicalOperator,
      stores: new TargetStores(),
      log,
      audit,
      authenticator,
      features,
      tracing: config.tracing,
      shutdown,
      metrics,
      slowCommandMs: config.slowCommandMs || Infinity,
      slowCommands,
      onRead: log.isLevelEnabled('debug')
        ? ({ requestId, command }, report) =>
            log.debug({ requestId, command, ...countsOf(report) }, 'Read')
        : undefined,
      isBehindProxy: config.isBehindProxy,
      timeouts: new CommandTimeouts(config.commandTimeoutMs),
      rateLimit,
      compression: config.compression,
      commandRoom,
      bodies: new BodyReceiver(bodyRoom),
      replyRoom,
      valueRoom,
      turns,
      replies,
      mcp: mcpProtocol(config.mcp, limits, readVersion()),
    },
    {
      ...listener,
      corsOrigins: config.corsOrigins,
      publicUrl: config.publicUrl,
      metricsAccess: config.metrics,
      console: config.console,
      signIn: { signInCode, lockout },
      management: admin && ((request, response) => admin.routing(request, response)),
      ...(log.isLevelEnabled('debug') && {
        onAnswered: (request) => log.debug(request, 'Answered a request'),
      }),
    },
  )
  return {
    async listen() {
      // Requests may reach either port, so both apps must be ready before the first port listens.
      await admin?.ready()
      const port = await listenOn(app, config.host, config.port)
      url = urlOf(config, port)
      const adminUrl = admin && urlOf(config, await listenOnAdminPort(admin, config))
      if (adminUrl !== undefined) report('info', `The management API is at ${adminUrl}/v2`)
      // The token is created last: if listening failed after its creation, the token would never be
      // shown.
      const first = await access.createFirstToken()
      const token = config.adminToken ?? first?.token
      const canSignIn = token !== undefined && config.console && isLoopbackUrl(url)
      return {
        url,
        adminUrl,
        firstToken: first?.token,
        createSignInLink: canSignIn
          ? () => `${url}/console#sign-in=${signInCode.create(token)}`
          : undefined,
      }
    },
    async close() {
      replies.hurry(fixedLimits.unreadWhileStoppingMsMax)
      const apps = admin === undefined ? [app] : [app, admin]
      await Promise.all(apps.map((one) => shutdown.stop(one)))
      await models.close()
      access.close()
      audit.close()
      databases.close()
      if (given === undefined) await engine.close()
    },
  }
}

/** The log, on standard error. Records are written at once, so that a crash loses none. */
function openLog({ logLevel, logFormat }: Config): Logger {
  const output = pino.destination({ fd: 2, sync: true })
  const isText = logFormat === 'auto' ? isatty(2) : logFormat === 'text'
  const stream = isText ? textLog((text) => output.write(text)) : output
  return pino({ level: logLevel, base: null }, stream)
}

type App = ReturnType<typeof buildApp>

/** Listens on the port of the management API. Port 0 means any free port for both listeners. */
function listenOnAdminPort(admin: App, { host, port, adminPort }: Config): Promise<number> {
  return listenOn(admin, host, Number(adminPort ?? (port === 0 ? 0 : port + 1)))
}

/** Listens on a port, and returns the actual port. */
async function listenOn(app: App, host: string, port: number): Promise<number> {
  await app.listen({ host, port, backlog: fixedLimits.backlogMax })
  return (app.server.address() as AddressInfo).port
}

/**
 * The URL of a listener. Clients cannot connect to wildcard addresses, so the loopback address
 * replaces them.
 */
function urlOf({ host, tls }: Config, port: number): string {
  const scheme = tls === undefined ? 'http' : 'https'
  if (host === '0.0.0.0') return `${scheme}://127.0.0.1:${port}`
  if (host === '::') return `${scheme}://[::1]:${port}`
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function isLoopbackUrl(url: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
}
