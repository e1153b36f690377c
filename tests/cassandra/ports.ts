/** Finds free TCP ports. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Bounds of the ports, below the ephemeral range: no connection can take a port before its node
 * does.
 */
const portMin = 10_000
const portMax = 30_000

/** Finds a port that is free on all of these addresses. */
export async function findPort(addresses: readonly string[]): Promise<number> {
  for (;;) {
    const port = randomInt(portMin, portMax)
    if (await isFree(port, addresses)) return port
  }
}

export async function isFree(port: number, addresses: readonly string[]): Promise<boolean> {
  for (const host of addresses) {
    const server = createServer()
    try {
      server.listen({ port, host, exclusive: true })
      await once(server, 'listening')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
        return false
      throw error
    } finally {
      server.close()
    }
  }
  return true
}
