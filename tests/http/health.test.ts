/**
 * Health checks for load balancers and orchestrators. Failing disks are covered in tests/faults.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { healthOf } from '../faults/health.ts'
import { startServer } from '../harness.ts'

const store = { name: 'store', status: 'UP' }
const accepting = { name: 'accepting requests', status: 'UP' }

describe('health', () => {
  test('lists the checks that it makes', async () => {
    const server = await startServer()
    for (const [path, checks] of [
      ['', [accepting, store]],
      ['/live', [store]],
      ['/ready', [accepting, store]],
    ] as const)
      assert.deepEqual(await healthOf(server, path), { http: 200, status: 'UP', checks })
    await server.close()
  })

  test('is UP in each of 200 concurrent replies', async () => {
    const server = await startServer()
    const all = await Promise.all(Array.from({ length: 200 }, () => healthOf(server)))
    assert(all.every(({ status }) => status === 'UP'))
    await server.close()
  })

  for (const [path, status] of [
    ['/ready', 'DOWN'],
    ['/live', 'UP'],
  ] as const)
    test(`while the server is stopping: ${path} is ${status}`, async () => {
      const server = await startServer()
      // The unfinished request keeps the server from stopping at once.
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`GET /stargate/health${path} HTTP/1.1\r\n`)
      await healthOf(server)
      const stopped = server.stop()
      socket.write('Host: here\r\nConnection: close\r\n\r\n')
      const text = await textFrom(socket)
      await stopped
      assert.match(text, new RegExp(`^HTTP/1.1 ${status === 'UP' ? 200 : 503} `))
      assert(text.includes(`{"status":"${status}"`), text)
      if (status === 'DOWN')
        assert.match(text, /"data":\{"problem":"the server is shutting down"\}/)
    })
})

async function textFrom(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += String(chunk)
  return text
}
