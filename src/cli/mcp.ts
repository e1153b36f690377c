/**
 * `stela mcp --stdio`: serves assistants that start their servers as child processes.
 *
 * Only servers implement the protocol, at /v1/mcp, so this command forwards messages to a server.
 * It uses the server of `--url`. Without this option, it starts a server in its own process, on a
 * free port, with the data folder and a generated token.
 */
import { randomBytes } from 'node:crypto'
import { Command, Option } from 'commander'
import { EngineError } from '../engine/errors.ts'
import type { Server } from '../server.ts'
import { forwardMessages, type McpEndpoint } from './mcp/forward-messages.ts'
import { CommandFailure, reportFailures } from './records/failure.ts'
import { readUrl } from './records/target.ts'
import { addServerSettings, namedFlags, readServerSettings } from './server-settings.ts'

export const mcpCommand = new Command('mcp')
  .description('Serve the Model Context Protocol over standard input and output.')
  .helpOption('--help', 'show this help')
  .option('--stdio', 'use standard input and output (required)')
  .addOption(
    new Option('--url <url>', 'URL of a running server (default: open the data folder)')
      .env('STELA_URL')
      .argParser(readUrl),
  )
  .addOption(
    new Option(
      '--token <token>',
      'token for that server; prefer the variable STELA_TOKEN',
    ).env('STELA_TOKEN'),
  )
  .addHelpText(
    'after',
    `
Without --url, the command opens a data folder, accepts all options of \`stela serve\`, and grants the
assistant full access. With --url, it rejects those options, and the role of the token limits the
assistant: use a read-only token unless it should write. Logs go to standard error.

Examples:
  stela mcp --stdio --data ~/notes                      open a data folder
  STELA_TOKEN=… stela mcp --stdio --url https://db:8181 use a running server
`,
  )
  .action((values: Values) => reportFailures(() => runMcp(values)))
addServerSettings(mcpCommand, false)

interface Values extends Record<string, unknown> {
  readonly stdio?: true
  readonly url?: string
  readonly token?: string
}

async function runMcp(values: Values): Promise<void> {
  if (values.stdio !== true)
    throw new CommandFailure(
      'Add --stdio. To serve assistants over HTTP, run `stela serve`, which serves them at /v1/mcp.',
    )
  const { url, token } = values
  if (url !== undefined) {
    const flags = namedFlags(mcpCommand)
    if (flags.length > 0)
      throw new CommandFailure(
        `${flags.join(', ')} cannot be combined with --url or STELA_URL: these are ` +
          'settings of a server that this command starts itself. Leave out the URL or ' +
          'the settings.',
      )
    if (token === undefined)
      throw new CommandFailure(
        'A running server requires a token. Set STELA_TOKEN or pass --token.',
      )
    await serveInput({ url: `${url}/v1/mcp`, token })
    return
  }
  const { server, endpoint } = await startServer(values)
  try {
    await serveInput(endpoint)
  } finally {
    await server.close()
  }
}

/**
 * Forwards messages from standard input to the server until the input ends or a signal
 * arrives.
 */
async function serveInput(endpoint: McpEndpoint): Promise<void> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  await forwardMessages(process.stdin, process.stdout, endpoint, stop.signal)
  process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
  // Closes standard input. Otherwise a client that keeps its end of the pipe open would keep the
  // process alive.
  process.stdin.destroy()
}

async function startServer(
  values: Values,
): Promise<{ readonly server: Server; readonly endpoint: McpEndpoint }> {
  const token = randomBytes(32).toString('base64url')
  const config = {
    ...readServerSettings(mcpCommand, values),
    host: '127.0.0.1',
    port: 0,
    adminPort: 'off',
    adminToken: token,
    tls: undefined,
    publicUrl: undefined,
  } as const
  // The server is imported lazily, because the command does not need it when a URL is given.
  const { build } = await import('../server.ts')
  try {
    const server = await build(config)
    const { url } = await server.listen()
    return { server, endpoint: { url: `${url}/v1/mcp`, token } }
  } catch (error) {
    if (error instanceof EngineError)
      throw new CommandFailure(`${error.message}. To use a running server, pass --url.`)
    throw error
  }
}
