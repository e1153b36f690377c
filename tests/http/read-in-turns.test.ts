/** Bodies that arrive at full speed must leave turns for other connections. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { readInTurns } from '../../src/http/read-in-turns.ts'

test('one turn of the event loop reads a bounded part of each concurrent body', async () => {
  const uploads = 6
  const body = randomBytes(12_000_000)
  let turn = 0
  let ofTurn = { turn: 0, size: 0 }
  let mostInATurn = 0
  let isOver = false
  const countTurns = (): void => {
    turn++
    if (!isOver) setImmediate(countTurns)
  }
  countTurns()
  const server = createServer((message, response) => {
    const hash = createHash('sha256')
    readInTurns(message, (chunk) => {
      if (ofTurn.turn !== turn) ofTurn = { turn, size: 0 }
      ofTurn.size += chunk.length
      mostInATurn = Math.max(mostInATurn, ofTurn.size)
      hash.update(chunk)
    })
    message.on('end', () => response.end(hash.digest('hex')))
  })
  server.listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hashes = await Promise.all(
    Array.from({ length: uploads }, () => upload(port, body)),
  )
  isOver = true
  server.close()
  const whole = createHash('sha256').update(body).digest('hex')
  assert.deepEqual(hashes, Array<string>(uploads).fill(whole))
  // Each body may deliver two chunks per turn, and one more chunk that was read before the pause.
  assert.ok(mostInATurn <= uploads * 3 * 65_536, `${mostInATurn} bytes in a turn`)
})

async function upload(port: number, body: Buffer): Promise<string> {
  const sent = request({ port, method: 'POST', agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return (await response.toArray()).join('')
}
