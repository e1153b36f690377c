import type { FastifyInstance } from 'fastify'
import type { Limits } from '../../limits.ts'
import { readVersion } from '../metrics.ts'
import { FixedContent } from '../pages/fixed-content.ts'
import { describeApi } from './describe-api.ts'

/** The description of the API, for tools and for the page that shows it. Needs no token. */
export function addOpenApiRoute(app: FastifyInstance, limits: Limits): void {
  const description = JSON.stringify(describeApi(limits, readVersion()))
  const content = new FixedContent('application/json', description)
  app.get('/api/json/openapi', (request, reply) => {
    reply.hijack()
    content.answer(request.raw, reply.raw)
  })
}
