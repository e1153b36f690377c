/**
 * Health checks for load balancers and orchestrators, without a token.
 *
 * A server is live when its store is writable, and ready when it also accepts requests. Any
 * client can read the reply, so it contains no file names.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { HttpServices } from './http-call.ts'
import { sendJson } from './reply.ts'

interface Check {
  readonly name: string
  readonly status: 'UP' | 'DOWN'
  /** The reason why the server is not healthy. */
  readonly data?: { readonly problem: string }
}

type Watched = Pick<HttpServices, 'engine' | 'shutdown'>

export function addHealthRoutes(app: FastifyInstance, watched: Watched): void {
  const alive = async (): Promise<Check[]> => [await checkStore(watched)]
  const ready = async (): Promise<Check[]> => [checkAccepting(watched), ...(await alive())]
  app.get('/stargate/health', async (_request, reply) => answer(reply, await ready()))
  app.get('/stargate/health/live', async (_request, reply) => answer(reply, await alive()))
  app.get('/stargate/health/ready', async (_request, reply) => answer(reply, await ready()))
}

function answer(reply: FastifyReply, checks: readonly Check[]): void {
  const status = checks.every((check) => check.status === 'UP') ? 'UP' : 'DOWN'
  reply.hijack()
  sendJson(reply.raw, status === 'UP' ? 200 : 503, JSON.stringify({ status, checks }))
}

function checkAccepting({ shutdown }: Watched): Check {
  const problem = shutdown.stopping ? 'the server is shutting down' : undefined
  return resultOf('accepting requests', problem)
}

async function checkStore({ engine }: Watched): Promise<Check> {
  return resultOf('store', await engine.health?.())
}

function resultOf(name: string, problem: string | undefined): Check {
  return problem === undefined
    ? { name, status: 'UP' }
    : { name, status: 'DOWN', data: { problem } }
}
