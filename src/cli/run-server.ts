/** Runs a server in this process until a signal stops it. */
import { flushCompileCache } from 'node:module'
import { EngineError } from '../engine/errors.ts'
import { collectWhenQuiet } from '../runtime/collect-garbage.ts'
import type { Listening, Server } from '../server.ts'
import type { Config } from '../settings/config.ts'

/** Serves until a signal arrives. `onReady` prints the address. */
export async function runServer(
  config: Config,
  onReady: (listening: Listening) => Promise<void> | void,
): Promise<void> {
  const asked = askedToStop()
  let server: Server | undefined
  try {
    // The server is imported lazily, so that other commands start faster.
    const { build } = await import('../server.ts')
    server = await build(config)
    await onReady(await server.listen())
    // Writes the compile cache now, because a killed server would not write it.
    flushCompileCache()
    collectWhenQuiet()
    await asked
  } catch (error) {
    process.stderr.write(`stela: ${reasonOf(error, config)}\n`)
    process.exitCode = 1
  }
  await server?.close()
  process.exit()
}

/** Resolves on the first SIGTERM or SIGINT; a second signal ends the process at once. */
function askedToStop(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const onSignal = () => {
      if (asked) process.exit(1)
      asked = true
      resolve()
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}

/**
 * Why the server stopped: one line for errors that the operator can fix, and the stack for other
 * errors.
 */
function reasonOf(error: unknown, { host, port }: Config): string {
  if (error instanceof EngineError) return error.message
  const { code, syscall, message, stack } = error as NodeJS.ErrnoException
  const { port: tried = port } = error as { port?: number }
  const flag = tried === port ? '--port' : '--admin-port'
  if (syscall === undefined) return stack ?? String(error)
  switch (code) {
    case 'EADDRINUSE':
      return (
        `port ${tried} on ${host} is in use. Stop the process that uses it, or choose ` +
        `another ${flag}.`
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose another --host.`
    default:
      return code === 'EACCES' && syscall === 'listen'
        ? `this user may not listen on port ${tried}. Choose a ${flag} above 1023.`
        : message
  }
}
