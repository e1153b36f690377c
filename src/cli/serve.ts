/** `stela serve`: flags in, listening server out. */
import { Command } from 'commander'
import { flushCompileCache } from 'node:module'
import type { Config } from '../settings/config.ts'
import { EngineError } from '../engine/errors.ts'
import type { Listening, Server } from '../server.ts'
import { addServerSettings, readServerSettings } from './server-settings.ts'

export const serve = new Command('serve')
  .description('Start the server and serve until it is stopped (Ctrl-C).')
  .helpOption('--help', 'show this help')
  .addHelpText(
    'after',
    `
Every option is also an environment variable: --page-size is STELA_PAGE_SIZE. Secrets
belong there: what is written on a command line can be read by others on the machine.

The first start makes an administrator token and prints it once, with a request to try
it with. Accounts given as users are sent as Cassandra:<Base64 name>:<Base64 password>.

Examples:
  stela serve                                       try it, on http://127.0.0.1:8181
  stela serve --host 0.0.0.0 --data /var/lib/stela  serve other machines
  STELA_ADMIN_TOKEN=secret stela serve              choose the token yourself
`,
  )
  .action(async (values: Record<string, unknown>) => {
    await runServer(readServerSettings(serve, values))
  })
addServerSettings(serve, true)

async function runServer(config: Config): Promise<void> {
  const asked = askedToStop()
  let server: Server | undefined
  try {
    // Loaded only here: the other commands need none of it, and start sooner without.
    const { build } = await import('../server.ts')
    server = await build(config)
    announce(await server.listen(), config)
    // Otherwise it is kept at the end, which a server may not come to.
    flushCompileCache()
    await asked
  } catch (error) {
    process.stderr.write(`stela: ${reasonOf(error, config)}\n`)
    process.exitCode = 1
  }
  await server?.close()
  process.exit()
}

/** Standard output carries one line, for scripts to wait for; people read standard error. */
function announce({ url, firstToken }: Listening, { cluster }: Config): void {
  if (firstToken !== undefined)
    process.stderr.write(`
An administrator token was made for this ${cluster === undefined ? 'data folder' : 'cluster'}. It is shown only now, so keep it:

  ${firstToken}

Try it:

  curl -s ${url}/v1 -H 'Token: ${firstToken}' -H 'Content-Type: application/json' -d '{"findKeyspaces": {}}'

`)
  process.stdout.write(`stela ready ${url}\n`)
}

/** Settles on the first signal; a second one does not wait for anything. */
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

/** One line where the operator can help it, everything where the program is wrong. */
function reasonOf(error: unknown, { host, port }: Config): string {
  if (error instanceof EngineError) return error.message
  const { code, syscall, message, stack } = error as NodeJS.ErrnoException
  const { port: tried = port } = error as { port?: number }
  const flag = tried === port ? '--port' : '--admin-port'
  if (syscall === undefined) return stack ?? String(error)
  switch (code) {
    case 'EADDRINUSE':
      return `port ${tried} on ${host} is in use. Stop what uses it, or choose another ${flag}.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine. Choose another --host.`
    default:
      return code === 'EACCES' && syscall === 'listen'
        ? `this user may not listen on port ${tried}. Choose a ${flag} above 1023.`
        : message
  }
}
