import type { FastifyInstance, FastifyReply } from 'fastify'
import type { HttpServices } from './command.ts'
import { sendJson } from './reply.ts'
import type { Shutdown } from './shutdown.ts'

interface Check {
  readonly name: string
  readonly status: 'UP' | 'DOWN'
}

/** Health for load balancers and orchestrators, without a token. */
export function addHealthRoutes(
  app: FastifyInstance,
  { engine, shutdown }: Pick<HttpServices, 'engine' | 'shutdown'>,
): void {
  const ready = async (): Promise<Check[]> => [
    checkAccepting(shutdown),
    await checkStore(engine),
  ]
  app.get('/stargate/health', async (_request, reply) => answer(reply, await ready()))
  // A restart does not help a server whose store fails: it counts as alive.
  app.get('/stargate/health/live', (_request, reply) => answer(reply, []))
  app.get('/stargate/health/ready', async (_request, reply) => answer(reply, await ready()))
}

function answer(reply: FastifyReply, checks: readonly Check[]): void {
  const status = checks.every((check) => check.status === 'UP') ? 'UP' : 'DOWN'
  reply.hijack()
  sendJson(reply.raw, status === 'UP' ? 200 : 503, JSON.stringify({ status, checks }))
}

function checkAccepting(shutdown: Shutdown): Check {
  return { name: 'accepting requests', status: shutdown.stopping ? 'DOWN' : 'UP' }
}

async function checkStore(engine: HttpServices['engine']): Promise<Check> {
  try {
    await engine.listKeyspaces()
    return { name: 'store', status: 'UP' }
  } catch {
    return { name: 'store', status: 'DOWN' }
  }
}
