/**
 * The service over HTTP: which paths there are.
 *
 * Fastify listens and routes. Each command is taken out of its hands as soon as it is
 * routed, because what follows there, the reading of bodies and the writing of replies, goes
 * by rules other than ours, and slower.
 */
import { fastify, type FastifyInstance } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Level } from '../commands/define.ts'
import { answerCommand, type HttpServices, type PathNames } from './command.ts'
import { tokenOf } from './headers.ts'
import { addHealthRoutes } from './health.ts'
import { missingToken, send, sendEmpty } from './reply.ts'

const prefixes = ['/v1', '/api/json/v1']

const levels: readonly { readonly path: string; readonly level: Level }[] = [
  { path: '', level: 'general' },
  { path: '/:keyspace', level: 'keyspace' },
  { path: '/:keyspace/:name', level: 'target' },
]

/** Longer than clients and proxies keep idle connections, so that they close them, not we. */
const keepAliveTimeoutMs = 75_000

/** Headers are short: whoever needs longer is not sending them. */
const headersTimeoutMs = 20_000

export interface HttpSettings {
  /** A request that has not arrived whole by then is dropped; 0 means never. */
  readonly requestTimeoutMs: number
  /** Called for every request that was answered; absent, it costs nothing. */
  readonly onAnswered?: (request: AnsweredRequest) => void
}

export interface AnsweredRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly elapsedMs: number
}

export function buildApp(
  services: HttpServices,
  { requestTimeoutMs, onAnswered }: HttpSettings,
): FastifyInstance {
  const app = fastify({
    logger: false,
    // A request that meets a stopping server on a kept connection is still served.
    return503OnClosing: false,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    routerOptions: {
      ignoreTrailingSlash: true,
      // Any name may be asked for; Node bounds the length of a request's first line.
      maxParamLength: 65_536,
    },
    http: {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs || headersTimeoutMs),
      connectionsCheckingInterval: 1_000,
    },
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
  if (onAnswered !== undefined)
    app.addHook('onResponse', ({ method, url }, { raw, elapsedTime }, done) => {
      onAnswered({ method, url, status: raw.statusCode, elapsedMs: elapsedTime })
      done()
    })
  for (const prefix of prefixes)
    for (const { path, level } of levels)
      app.post<{ Params: PathNames }>(prefix + path, {
        onRequest(request, reply) {
          reply.hijack()
          answerCommand(level, request.params, request.raw, reply.raw, services).catch(
            (failure: unknown) => {
              services.log.error({ err: failure }, 'A request could not be answered')
              request.raw.destroy()
            },
          )
        },
        handler: () => {
          throw new Error('commands are answered before their handler is reached')
        },
      })
  addHealthRoutes(app, services)
  return app
}

const commandPath = /^(?:\/api\/json)?\/v1(?:\/|$)/
const commandRoute = /^(?:\/api\/json)?\/v1(?:\/[^/]+){0,2}\/?$/

/** For requests that have no route: the path does not exist, or not with this method. */
function refuseRoute(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url!.split('?', 1)[0]!
  if (commandPath.test(path) && tokenOf(request.headers) === undefined)
    send(response, missingToken())
  else if (commandRoute.test(path) && request.method !== 'POST') {
    response.setHeader('Allow', 'POST')
    sendEmpty(response, 405)
  } else sendEmpty(response, 404)
}
