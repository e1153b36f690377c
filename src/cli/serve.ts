/** `stela serve`: flags in, listening server out. */
import { Command } from 'commander'
import type { Listening } from '../server.ts'
import type { Config } from '../settings/config.ts'
import { runServer } from './run-server.ts'
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
    const config = readServerSettings(serve, values)
    await runServer(config, (listening) => announce(listening, config))
  })
addServerSettings(serve, true)

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
