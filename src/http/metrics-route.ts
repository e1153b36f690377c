/** Serves the metrics at /metrics. */
import type { FastifyInstance } from 'fastify'
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { ArrivalQueue } from './arrival-queue.ts'
import { authenticate, isUnauthenticated } from './authenticate.ts'
import { refuseUnauthenticated } from './command.ts'
import type { HttpServices } from './http-call.ts'
import { send, sendText } from './reply.ts'

/** Who may read the metrics: everyone, or administrators. `off`: no metrics are collected. */
export type MetricsAccess = 'on' | 'token' | 'off'

/** Content type of the Prometheus text format. */
const textFormat = 'text/plain; version=0.0.4; charset=utf-8'

export function addMetricsRoute(
  app: FastifyInstance,
  services: HttpServices & { readonly arrivals: ArrivalQueue },
  access: MetricsAccess,
): void {
  const { metrics } = services
  if (metrics === undefined) return
  app.get('/metrics', async (request, reply) => {
    if (access === 'token') {
      const found = await authenticate(request.raw, undefined, services)
      if (isUnauthenticated(found)) {
        reply.hijack()
        refuseUnauthenticated(request.raw, reply.raw, found, undefined, services)
        return
      }
      if (!found.allows('org-read', {})) {
        reply.hijack()
        send(reply.raw, { errors: [notPermitted()] })
        return
      }
    }
    const text = await metrics.print(services, app.server)
    reply.hijack()
    sendText(reply.raw, 200, textFormat, text)
  })
}

/**
 * The error for a token without administrator permissions. Metrics cover the whole server, so
 * `--metrics token` permits only administrators to read them.
 */
function notPermitted(): ApiError {
  const action = 'read the metrics of'
  return apiError('UNAUTHORIZED_ACCESS', { target: 'the database', action })
}
