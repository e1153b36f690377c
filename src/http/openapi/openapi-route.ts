import type { FastifyInstance } from 'fastify'
import type { Limits } from '../../limits.ts'
import { readVersion } from '../metrics.ts'
import { FixedContent } from '../pages/fixed-content.ts'

/** Serves the OpenAPI description, for tools and the reference page, without a token. */
export function addOpenApiRoute(app: FastifyInstance, limits: Limits): void {
  let content: Promise<FixedContent> | undefined
  app.get('/api/json/openapi', async (request, reply) => {
    reply.hijack()
    content ??= describe(limits)
    ;(await content).answer(request.raw, reply.raw)
  })
}

/**
 * The description as content. Its module is imported lazily: most servers never need it and start
 * faster without it.
 */
async function describe(limits: Limits): Promise<FixedContent> {
  const { describeApi } = await import('./describe-api.ts')
  const description = JSON.stringify(describeApi(limits, readVersion()))
  return new FixedContent('application/json', description)
}
