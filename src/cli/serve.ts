/** `stela serve`: starts a server with the settings of the command line. */
import { Command } from 'commander'
import type { Listening } from '../server.ts'
import type { Config } from '../settings/config.ts'
import { consoleText } from './console-text.ts'
import { runServer } from './run-server.ts'
import { addServerSettings, readServerSettings } from './server-settings.ts'

export const serve = new Command('serve')
  .description('Start the server (Ctrl-C stops it).')
  .helpOption('--help', 'show this help')
  .addHelpText(
    'after',
    `
Every option is also an environment variable: --page-size is STELA_PAGE_SIZE. Pass secrets as
variables: other users of the machine can read command lines.

The first start creates an administrator token and prints it once, with a request to try.
Clients authenticate as a user with the token Cassandra:<Base64 name>:<Base64 password>.

Examples:
  stela serve                                       listen on http://127.0.0.1:8181
  stela serve --host 0.0.0.0 --data /var/lib/stela  listen on all interfaces
  STELA_ADMIN_TOKEN=secret stela serve              set the administrator token
`,
  )
  .action(async (values: Record<string, unknown>) => {
    const config = readServerSettings(serve, values)
    await runServer(config, (listening) => announce(listening, config))
  })
addServerSettings(serve, true)

/**
 * Reports that the server is ready. Standard output gets only one line, for which scripts can wait;
 * the administrator token, examples and the address of the console go to standard error.
 */
function announce(listening: Listening, config: Config): void {
  const { url, firstToken } = listening
  if (firstToken !== undefined)
    process.stderr.write(`
Administrator token of this ${config.cluster === undefined ? 'data folder' : 'cluster'}. Save it now, it is not shown again:

  ${firstToken}

Try it:

  curl -s ${url}/v1 -H 'Token: ${firstToken}' -H 'Content-Type: application/json' -d '{"findKeyspaces": {}}'

`)
  process.stderr.write(consoleText(listening, config))
  process.stdout.write(`stela ready ${url}\n`)
}
