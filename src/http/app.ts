/**
 * The service over HTTP: who answers what.
 *
 * Commands are many and small, so they take the shortest way: from Node's server to
 * command.ts, which reads bodies and writes replies by our rules. Fastify routes all else.
 */
import { fastify, type FastifyInstance } from 'fastify'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { addressOf } from './address.ts'
import { answerCommand, type HttpServices } from './command.ts'
import { offerPacking } from './compression.ts'
import { allowOrigin, type AllowedOrigins } from './cors.ts'
import { tokenOf } from './headers.ts'
import { addHealthRoutes } from './health.ts'
import { createListener, type ListenerSettings } from './listener.ts'
import { addMetricsRoute, type MetricsAccess } from './metrics.ts'
import { addOpenApiRoute } from './openapi/openapi-route.ts'
import { addReferencePage } from './pages/reference-page.ts'
import { missingToken, send, sendEmpty } from './reply.ts'
import { requestIdOf } from './request-id.ts'

export interface HttpSettings extends ListenerSettings {
  /** Pages that may read what is answered; undefined: none of other origins. */
  readonly corsOrigins: AllowedOrigins | undefined
  readonly metricsAccess: MetricsAccess
  /** Called for every request that was answered; absent, it costs nothing. */
  readonly onAnswered?: (request: AnsweredRequest) => void
}

export interface AnsweredRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly elapsedMs: number
}

export function buildApp(services: HttpServices, settings: HttpSettings): FastifyInstance {
  const app = fastify({
    logger: false,
    // A request that meets a stopping server on a kept connection is still served.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    serverFactory: (handleOther) => listenerFor(handleOther, services, settings),
    // A path that cannot be decoded leads nowhere, too.
    frameworkErrors(_error, request, reply) {
      reply.hijack()
      refuseRoute(request.raw, reply.raw)
    },
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) {
      done()
      return
    }
    reply.hijack()
    refuseRoute(request.raw, reply.raw)
  })
  addHealthRoutes(app, services)
  addMetricsRoute(app, services, settings.metricsAccess)
  addOpenApiRoute(app, services.limits)
  addReferencePage(app)
  return app
}

/** Commands go their own way, all else goes to Fastify. */
function listenerFor(
  handleOther: RequestListener,
  services: HttpServices,
  settings: HttpSettings,
): Server {
  const { corsOrigins, onAnswered } = settings
  return createListener(settings, (request, response) => {
    // A request may name the server as well, as those to proxies do.
    if (!request.url!.startsWith('/'))
      request.url = request.url!.replace(/^https?:\/\/[^/?#]+/i, '')
    services.metrics?.followRequest(response)
    if (onAnswered !== undefined) watch(request, response, onAnswered)
    if (services.compression) offerPacking(request, response)
    if (corsOrigins !== undefined && allowOrigin(request, response, corsOrigins)) return
    const address = request.method === 'POST' ? addressOf(request.url!) : undefined
    if (address === undefined) {
      handleOther(request, response)
      return
    }
    const requestId = requestIdOf(request.headers)
    answerCommand(address, request, response, requestId, services).catch(
      (failure: unknown) => {
        services.log.error({ err: failure, requestId }, 'A request could not be answered')
        request.destroy()
      },
    )
  })
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

const commandPath = /^(?:\/api\/json)?\/v1(?:\/|$)/

/** For requests that have no route: the path does not exist, or not with this method. */
function refuseRoute(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url!.split('?', 1)[0]!
  if (commandPath.test(path) && tokenOf(request.headers) === undefined)
    send(response, missingToken())
  else if (addressOf(path) !== undefined && request.method !== 'POST') {
    response.setHeader('Allow', 'POST')
    sendEmpty(response, 405)
  } else sendEmpty(response, 404)
}
