import type { FastifyInstance } from 'fastify'

/**
 * Graceful shutdown: accepts no new connections, and finishes and answers running commands.
 */
export class Shutdown {
  /** Commands at work; counted where they run. */
  running = 0
  stopping = false

  async stop(app: FastifyInstance, graceMs = defaultGraceMs): Promise<void> {
    this.stopping = true
    // Connections that still deliver a request, or take their time to read a response, hold
    // up the end for as long as a client is being served, and a little longer.
    const cut = setInterval(() => {
      if (this.running === 0) app.server.closeAllConnections()
    }, graceMs)
    try {
      await app.close()
    } finally {
      clearInterval(cut)
    }
  }
}

const defaultGraceMs = 2_000
