/**
 * Baseline for HTTP without a database: a Fastify route that parses the body and sends prepared
 * bytes.
 */
import { fastify } from 'fastify'
import type { AddressInfo } from 'node:net'

export interface FastifyQuestion {
  /** Reply bodies, which the route sends in rotation. */
  readonly replies: readonly string[]
}

export interface FastifyAnswer {
  readonly port: number
}

let replies: readonly string[] = []
let next = 0

const app = fastify({ logger: false })
app.post('/v1/:keyspace/:name', (_request, reply) => {
  if (next === replies.length) next = 0
  void reply.header('Content-Type', 'application/json').send(replies[next++])
})
await app.listen({ host: '127.0.0.1', port: 0 })

process.on('message', (question: FastifyQuestion) => {
  replies = question.replies
  next = 0
  const { port } = app.server.address() as AddressInfo
  process.send!({ port } satisfies FastifyAnswer)
})
process.on('disconnect', () => process.exit())
