/** A reranking service that replies at once, so that the measured time is the time of Stela. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RerankerQuestion {
  readonly ask: 'port'
}

export interface RerankerAnswer {
  readonly port: number
}

/**
 * Answers in the protocol of the default provider. The scores keep the passages in the order of the
 * request.
 */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { passages } = JSON.parse(Buffer.concat(chunks).toString()) as {
    passages: readonly unknown[]
  }
  const rankings = passages.map((_, index) => ({ index, logit: -index }))
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify({ rankings }))
}

const server = createServer((request, response) => void answer(request, response))
server.listen(0, '127.0.0.1')

process.on('message', () => {
  const reply = () => {
    const { port } = server.address() as AddressInfo
    process.send!({ port } satisfies RerankerAnswer)
  }
  if (server.listening) reply()
  else server.once('listening', reply)
})
process.on('disconnect', () => process.exit())
