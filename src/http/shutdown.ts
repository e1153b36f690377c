import type { FastifyInstance } from 'fastify'

/**
 * Graceful shutdown: accepts no new connections, and finishes and answers running commands.
 */
export class Shutdown {
  /** Number of running commands; HttpCall updates it. */
  running = 0
  stopping = false

  async stop(app: FastifyInstance, graceMs = defaultGraceMs): Promise<void> {
    this.stopping = true
    // Clients that slowly send a request or read a response would delay the shutdown. Their
    // connections are closed once no command is running.
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
