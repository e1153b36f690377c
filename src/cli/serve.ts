/** `stela serve`: flags in, listening server out. */
import { Command, InvalidArgumentError } from 'commander'
import {
  readConfig,
  secretSettings,
  serveOptions,
  type Config,
} from '../settings/config.ts'
import type { Listening } from '../server.ts'
import { runServer } from './run-server.ts'

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
    const config = readSettings(values)
    await runServer(config, (listening) => announce(listening, config))
  })
for (const option of serveOptions()) serve.addOption(option)
serve.configureOutput({
  outputError: (text, write) => write(isAboutSecrets(text) ? withoutValue(text) : text),
})

/** What is wrong with a secret can be said without showing it. */
function isAboutSecrets(text: string): boolean {
  return secretSettings.some((name) => text.includes(`--${name}`))
}

function withoutValue(text: string): string {
  return text
    .replace(
      /value '[^]*' from env '(STELA_\w+)' is invalid/,
      "value from env '$1' is invalid",
    )
    .replace(/argument '[^]*' is invalid/, 'argument is invalid')
}

function readSettings(values: Record<string, unknown>): Config {
  try {
    return readConfig(values, isGiven)
  } catch (error) {
    if (error instanceof InvalidArgumentError) serve.error(`error: ${error.message}`)
    throw error
  }
}

/** In the environment, or on the command line. */
function isGiven(name: string): boolean {
  const option = serve.options.find((candidate) => candidate.name() === name)
  const source = serve.getOptionValueSource(option!.attributeName())
  return source !== undefined && source !== 'default'
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
