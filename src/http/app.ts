/**
 * The HTTP service: decides which part answers a request.
 *
 * Commands are many and small, so they bypass Fastify: command.ts reads their bodies and writes
 * their replies on Node's server directly. Fastify routes all other requests.
 */
import {
  fastify,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { ApiError, apiError } from '../errors/api-error.ts'
import { wholeText } from '../json/long-text.ts'
import { AddressBook, addressOf } from './address.ts'
import { admitInTurn } from './admit.ts'
import { authenticate, isUnauthenticated } from './authenticate.ts'
import { answerCommand, answerFailure, refuseUnauthenticated } from './command.ts'
import { offerPacking } from './compression.ts'
import { asksToContinue, stripHost } from './connection.ts'
import { allowOrigin } from './cors.ts'
import { tokenOf } from './headers.ts'
import { addHealthRoutes } from './health.ts'
import type { HttpServices } from './http-call.ts'
import { createListener, type ListenerSettings } from './listener.ts'
import { addMetricsRoute, type MetricsAccess } from './metrics-route.ts'
import { addOpenApiRoute } from './openapi/openapi-route.ts'
import { isTrustedOrigin, refuseOrigin, type OriginSettings } from './origin.ts'
import { noSchemas } from './no-schemas.ts'
import { addConsolePage } from './pages/console-page.ts'
import { addReferencePage } from './pages/reference-page.ts'
import { addRootPage } from './pages/root-page.ts'
import { addSignInRoute, type SignInServices } from './pages/sign-in-route.ts'
import { keepMaxUnknown, refuse } from './refuse.ts'
import { printReply, sendJson } from './reply.ts'
import { RequestQueue } from './request-queue.ts'
import { requestIdOf } from './request-id.ts'
import { answerUnreadable } from './unreadable.ts'

export interface HttpSettings extends ListenerSettings, OriginSettings {
  readonly metricsAccess: MetricsAccess
  /** Whether the web console is served. */
  readonly console: boolean
  /** Exchanges the codes of sign-in links for tokens. */
  readonly signIn: Omit<SignInServices, 'audit' | 'publicUrl'>
  /**
   * Handles requests for the management API on this port. Undefined: the API is only on its own
   * port.
   */
  readonly management: RequestListener | undefined
  /** Called after each answered request. */
  readonly onAnswered?: (request: AnsweredRequest) => void
}

export interface AnsweredRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly elapsedMs: number
}

export function buildApp(services: HttpServices, settings: HttpSettings): FastifyInstance {
  const refusePath = (request: IncomingMessage, response: ServerResponse) => {
    refuseRoute(request, response, services)
      .catch((failure: unknown) =>
        answerFailure(failure, request, response, undefined, services),
      )
      .catch(() => request.destroy())
  }
  const refuseUnrouted = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    refusePath(request.raw, reply.raw)
  }
  const app = fastify({
    logger: false,
    schemaController: noSchemas,
    // A request on a kept-alive connection is served even while the server stops.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    serverFactory: (handleOther) => listenerFor(handleOther, services, settings),
    clientErrorHandler: answerUnreadable,
    // A path that cannot be decoded is treated like an unknown path.
    frameworkErrors: (_error, request, reply) => refuseUnrouted(request, reply),
  })
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify routes targets other than paths, such as *, to the root, so they are refused here.
    if (request.is404 || !request.raw.url!.startsWith('/')) refuseUnrouted(request, reply)
    else done()
  })
  app.setErrorHandler((failure: FastifyError, request, reply) => {
    // An unknown method is treated like an unknown path.
    if (failure.code === 'FST_ERR_NOT_FOUND') refuseUnrouted(request, reply)
    else {
      reply.hijack()
      sendFailure(failure, request.raw, reply.raw, services)
    }
  })
  addHealthRoutes(app, services)
  addMetricsRoute(app, { ...services, arrivals: settings.arrivals }, settings.metricsAccess)
  addOpenApiRoute(app, services.limits)
  addReferencePage(app)
  if (settings.console) {
    addConsolePage(app, refusePath)
    const { publicUrl, signIn } = settings
    addSignInRoute(app, { ...signIn, audit: services.audit, publicUrl })
  }
  addRootPage(app, settings.console)
  return app
}

/**
 * Answers failures outside of commands. The client may not be authenticated, so the reason is only
 * logged. Monitors, which request these paths, need only the HTTP status.
 */
function sendFailure(
  failure: unknown,
  { url }: IncomingMessage,
  response: ServerResponse,
  { log }: HttpServices,
): void {
  if (!(failure instanceof ApiError)) log.error({ err: failure, url }, 'A request failed')
  const problem = 'the server could not answer the request'
  const error =
    failure instanceof ApiError
      ? failure
      : apiError('UNEXPECTED_SERVER_ERROR', { kind: 'Error', problem })
  sendJson(response, 500, wholeText(printReply({ errors: [error] })))
}

/** Sends commands to command.ts and all other requests to Fastify. */
function listenerFor(
  handleOther: RequestListener,
  services: HttpServices,
  settings: HttpSettings,
): Server {
  const { corsOrigins, management, onAnswered } = settings
  const addresses = new AddressBook()
  const handle: RequestListener = (request, response) => {
    if (onAnswered !== undefined) watch(request, response, onAnswered)
    const url = request.url!
    const address = addresses.find(url)
    const isManagement = address === undefined && managementPath.test(url)
    if (isManagement && management !== undefined) {
      if (asksToContinue(request)) response.writeContinue()
      management(request, response)
      return
    }
    if (services.compression) offerPacking(request, response)
    if (corsOrigins !== undefined && allowOrigin(request, response, corsOrigins)) return
    if (address?.isMcp === true && !isTrustedOrigin(request, settings)) {
      const requestId = requestIdOf(request.headers)
      refuseOrigin(request, response, requestId, services.limits.bodySizeMax)
      return
    }
    if (address === undefined || request.method !== 'POST') {
      if (asksToContinue(request)) response.writeContinue()
      handleOther(request, response)
      return
    }
    const requestId = requestIdOf(request.headers)
    answerCommand(address, request, response, requestId, services)
      .catch((failure: unknown) =>
        answerFailure(failure, request, response, requestId, services),
      )
      .catch((failure: unknown) => {
        services.log.error({ err: failure, requestId }, 'A request could not be answered')
        request.destroy()
      })
  }
  const admit = admitInTurn(handle, services, settings.arrivals)
  const queue = new RequestQueue(admit, services.metrics)
  const onRequest: RequestListener = (request, response) => {
    stripHost(request)
    queue.add(request, response)
  }
  // Node passes requests with "Expect: 100-continue" to the same listener. The code that reads a
  // body tells the client to continue.
  return createListener(settings, onRequest, onRequest)
}

function watch(
  request: IncomingMessage,
  response: ServerResponse,
  onAnswered: (answered: AnsweredRequest) => void,
): void {
  const startedAt = performance.now()
  response.once('finish', () =>
    onAnswered({
      method: request.method!,
      url: request.url!,
      status: response.statusCode,
      elapsedMs: performance.now() - startedAt,
    }),
  )
}

/**
 * Paths of the management API, which the console uses on the same origin. No CORS headers are sent
 * for them, whatever --cors-origins says. A page of another origin cannot misuse them: the token is
 * in a header, which browsers do not add by themselves. A page may send this header to another
 * origin only after a preflight request, which the server rejects like any request without a token.
 */
const managementPath = /^\/v2(?:[/?]|$)/

const commandPath = /^(?:\/api\/json)?\/v1(?:\/|$)/

/**
 * Answers requests without a route: unknown paths, and methods that a path does not have. A token
 * is checked on every path, so that invalid tokens count toward the lockout. Only command paths
 * require a token.
 */
async function refuseRoute(
  request: IncomingMessage,
  response: ServerResponse,
  services: HttpServices,
): Promise<void> {
  const path = request.url!.split('?', 1)[0]!
  if (commandPath.test(path) || tokenOf(request.headers) !== undefined) {
    const principal = await authenticate(request, undefined, services)
    if (isUnauthenticated(principal)) {
      refuseUnauthenticated(request, response, principal, undefined, services)
      return
    }
  }
  const method = request.method!
  const isCommand = addressOf(path) !== undefined && method !== 'POST'
  if (isCommand) response.setHeader('Allow', 'POST')
  const error = isCommand
    ? apiError('UNSUPPORTED_METHOD', { method, path })
    : apiError('UNKNOWN_PATH', { path })
  const drain = { keepMax: keepMaxUnknown, drainMax: services.limits.bodySizeMax }
  refuse(request, response, { errors: [error] }, undefined, drain)
}
