/**
 * The management API over HTTP: authentication, routing, and the form of replies and errors.
 *
 * Checks run in this order, and the first failure is the reply: token, path and method, size of the
 * body, content type, JSON, then the checks of the route. All errors have the same form.
 */
import { Readable } from 'node:stream'
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { counted } from '../errors/catalog-entry.ts'
import { AccessRefusal } from '../auth/access.ts'
import { isPrincipal, refusalReason, type Authenticator } from '../auth/authenticator.ts'
import { admitInTurn } from '../http/admit.ts'
import { addressOfClient } from '../http/client-address.ts'
import { connectionOf } from '../http/connection.ts'
import { isJson, tokenOf } from '../http/headers.ts'
import { createListener, type ListenerSettings } from '../http/listener.ts'
import { noSchemas } from '../http/no-schemas.ts'
import { requestIdOf } from '../http/request-id.ts'
import type { Shutdown } from '../http/shutdown.ts'
import type { Turns } from '../http/turns.ts'
import { absentRoutes } from './absent-routes.ts'
import { backupRoutes } from './backup-routes.ts'
import { databaseRoutes } from './database-routes.ts'
import { printBody } from './print-body.ts'
import { keyspaceRoutes } from './keyspace-routes.ts'
import { organizationRoutes } from './organization-routes.ts'
import { permissionRoutes } from './permission-routes.ts'
import { Refusal, refusalOf } from './refusal.ts'
import { regionRoutes } from './region-routes.ts'
import { roleRoutes } from './role-routes.ts'
import {
  AdminCall,
  type AdminCaller,
  type AdminRoute,
  type AdminServices,
} from './route.ts'
import { sizeRoutes } from './size-routes.ts'
import { slowCommandRoutes } from './slow-command-routes.ts'
import { tokenRoutes } from './token-routes.ts'
import { userRoutes } from './user-routes.ts'

export interface AdminAppServices extends Omit<AdminServices, 'stopping'> {
  readonly authenticator: Authenticator
  readonly shutdown: Shutdown
  /** Distributes the time of the event loop among principals. */
  readonly turns: Turns
  /** Whether a trusted proxy sets the client address. */
  readonly isBehindProxy: boolean
}

const prefix = '/v2'

const routes: readonly AdminRoute[] = [
  ...databaseRoutes,
  ...keyspaceRoutes,
  ...sizeRoutes,
  ...regionRoutes,
  ...organizationRoutes,
  ...tokenRoutes,
  ...roleRoutes,
  ...permissionRoutes,
  ...userRoutes,
  ...backupRoutes,
  ...slowCommandRoutes,
  ...absentRoutes,
]

export function buildAdminApp(
  services: AdminAppServices,
  listener: ListenerSettings,
): FastifyInstance {
  const app = fastify({
    logger: false,
    schemaController: noSchemas,
    return503OnClosing: false,
    bodyLimit: services.limits.adminBodySizeMax,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1_000 },
    serverFactory: (handle) =>
      createListener(listener, admitInTurn(handle, services, listener.arrivals)),
    frameworkErrors: (_error, request, reply) => {
      // Fastify runs no hooks for a path that it cannot decode, so the token is checked here:
      // invalid tokens in such requests count for the lockout, too.
      void identify(request, services)
        .then(() => new Refusal(400, 'The path is not validly encoded'))
        .catch(
          (failure: unknown) =>
            refusalOf(failure) ?? ourMistake(failure, request, services),
        )
        .then((refusal) => sendRefusal(refusal, request, reply))
    },
  })
  const callers = new WeakMap<FastifyRequest, AdminCaller>()
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', requestIdFor(request))
    callers.set(request, await identify(request, services))
  })
  app.removeAllContentTypeParsers()
  const readBody = async (request: FastifyRequest, body: string | Buffer) => {
    await takeTurn(request, callers.get(request)!, services)
    return parseBody(request, body as string)
  }
  app.addContentTypeParser('*', { parseAs: 'string' }, readBody)
  app.setErrorHandler((failure, request, reply) => {
    if (failure instanceof AccessRefusal && failure.kind === 'forbidden')
      services.audit.refused(
        'not permitted',
        askedBy(request, services),
        callers.get(request)?.principal,
      )
    const refusal = refusalOf(failure) ?? ourMistake(failure, request, services)
    return sendRefusal(refusal, request, reply)
  })
  app.setNotFoundHandler((request) => {
    throw refusalOfMethod(request) ?? refusalOfPath(request)
  })
  const stopping = new AbortController()
  app.addHook('preClose', (done) => {
    stopping.abort()
    done()
  })
  for (const route of routes)
    addRoute(app, route, callers, { ...services, stopping: stopping.signal })
  return app
}

/** Authenticates the request; throws a Refusal when its token is missing or invalid. */
async function identify(
  request: FastifyRequest,
  services: AdminAppServices,
): Promise<AdminCaller> {
  const { audit, authenticator } = services
  const { headers } = request.raw
  const asked = askedBy(request, services)
  // The Authorization header takes precedence, because clients of the Data API may send a header of
  // the Data API in addition.
  const token = tokenOf({ authorization: headers.authorization }) ?? tokenOf(headers)
  if (token === undefined) {
    audit.refused('no token', asked)
    throw new Refusal(
      401,
      'The request has no token. Send it as Authorization: Bearer <token>',
    )
  }
  const connection = connectionOf(request.raw)
  const identified = authenticator.identify(token, { connection, address: asked.address })
  const found = await Promise.resolve(identified).catch((failure: unknown) => {
    const { requestId } = asked
    services.log.error({ err: failure, requestId }, 'A token could not be verified')
    // The reply omits the cause, because the client is not authenticated. The log has it.
    throw new Refusal(503, 'The token could not be verified')
  })
  if (isPrincipal(found)) return { principal: found, token }
  audit.refused(refusalReason(found), asked)
  if (found.why === 'unknown')
    throw new Refusal(401, 'The token is invalid: it is unknown or revoked')
  if (found.why === 'expired')
    throw new Refusal(401, `The token expired at ${found.expiredAt}`)
  throw new Refusal(
    429,
    'Too many requests with invalid credentials from this address. The token was not ' +
      `checked. Try again after ${counted(found.seconds, 'second')}`,
    { 'Retry-After': String(found.seconds) },
  )
}

/** Waits for the principal's turn; returns undefined if the request may run at once. */
function takeTurn(
  { raw }: FastifyRequest,
  { principal }: AdminCaller,
  { turns }: AdminAppServices,
): Promise<void> | undefined {
  return turns.pause({ principalName: principal.name, connection: connectionOf(raw) })
}

function askedBy(request: FastifyRequest, services: AdminAppServices) {
  return {
    requestId: requestIdFor(request),
    address: addressOfClient(request.raw, services),
    command: `${request.method} ${shorten(pathOf(request))}`,
  }
}

const requestIds = new WeakMap<FastifyRequest, string>()

function requestIdFor(request: FastifyRequest): string {
  let id = requestIds.get(request)
  if (id === undefined) requestIds.set(request, (id = requestIdOf(request.raw.headers)))
  return id
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]!
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/**
 * Parses a JSON body. An empty body counts as absent: clients often send a JSON content type with
 * an empty body.
 */
function parseBody(request: FastifyRequest, body: string): unknown {
  if (body === '') return undefined
  const contentType = request.headers['content-type']
  if (contentType !== undefined && !isJson(contentType))
    throw Object.assign(new Error(), { statusCode: 415 })
  try {
    return JSON.parse(body) as unknown
  } catch (error) {
    throw new Refusal(
      400,
      `The body is not valid JSON: ${shorten((error as Error).message)}`,
    )
  }
}

function addRoute(
  app: FastifyInstance,
  route: AdminRoute,
  callers: WeakMap<FastifyRequest, AdminCaller>,
  services: AdminAppServices & AdminServices,
): void {
  const { shutdown } = services
  app.route({
    method: route.method,
    url: prefix + route.path,
    ...(route.bodySizeMax !== undefined && { bodyLimit: route.bodySizeMax }),
    handler: async (request, reply) => {
      shutdown.running++
      try {
        await takeTurn(request, callers.get(request)!, services)
        const {
          body,
          status,
          headers = {},
        } = await route.run(
          new AdminCall(
            callers.get(request)!,
            services,
            request as unknown as Pick<AdminCall, 'params' | 'query' | 'body'>,
            askedBy(request, services),
          ),
        )
        reply.code(status).headers(headers)
        if (body === undefined || body instanceof Readable) return await reply.send(body)
        const pause = () => takeTurn(request, callers.get(request)!, services)
        const printed = await printBody(body, services.limits.replySizeMax, pause)
        return await reply.type('application/json; charset=utf-8').send(printed)
      } finally {
        shutdown.running--
      }
    },
  })
}

/**
 * The error for an unsupported method of a known path; undefined if the path is unknown. The router
 * does not know these methods: it compiles its routes at the start, and this would double the time.
 */
function refusalOfMethod(request: FastifyRequest): Refusal | undefined {
  const parts = pathOf(request).replace(/\/$/, '').split('/')
  const known = routes
    .filter(({ path }) => isAt(`${prefix}${path}`.split('/'), parts))
    .map(({ method }) => method)
  if (known.length === 0) return undefined
  const allow = [...new Set(known)].join(', ')
  return new Refusal(
    405,
    `${request.method} is not supported at this path. Supported: ${allow}`,
    { Allow: allow },
  )
}

/** Whether the parts of a path match those of a route. */
function isAt(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]))
  )
}

function refusalOfPath(request: FastifyRequest): Refusal {
  return new Refusal(404, `The management API has no path ${shorten(pathOf(request))}`)
}

/**
 * Logs an internal error and returns the reply. The client gets only the request id, which
 * identifies the error in the log.
 */
function ourMistake(
  failure: unknown,
  request: FastifyRequest,
  { log }: AdminAppServices,
): Refusal {
  const requestId = requestIdFor(request)
  log.error({ err: failure, requestId }, 'A request failed because of a bug in the server')
  return new Refusal(
    500,
    `Internal server error. See the server log for the request ${requestId}`,
  )
}

function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply) {
  return reply
    .code(refusal.status)
    .headers({ 'X-Request-Id': requestIdFor(request), ...refusal.headers })
    .type('application/json')
    .send(refusal.body)
}
