/** `stela demo`: a server with sample data and three example requests. */
import { Command } from 'commander'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultConfig } from '../settings/config.ts'
import { setting } from '../settings/setting-option.ts'
import { wholeNumber } from '../settings/setting-values.ts'
import { consoleText } from './console-text.ts'
import { fillDemo, type DemoRequest } from './demo/sample-data.ts'
import { runServer } from './run-server.ts'

export const demo = new Command('demo')
  .description('Start a server with sample data (Ctrl-C stops it).')
  .helpOption('--help', 'show this help')
  .addOption(
    setting('port', '<number>', 'listen port; 0 picks a free port')
      .argParser(wholeNumber(0, 65_535))
      .default(defaultConfig.port),
  )
  .addHelpText(
    'after',
    `
The sample data lives in a temporary folder, which is deleted at exit. With the built-in model
installed the samples are searchable by meaning, otherwise by words.

Examples:
  stela demo             on http://127.0.0.1:8181
  stela demo --port 0    on any free port
`,
  )
  .action(async ({ port }: { port: number }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'stela-demo-'))
    process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
    const adminToken = `demo-${randomBytes(8).toString('hex')}`
    await runServer(
      {
        ...defaultConfig,
        port,
        adminPort: 'off',
        adminToken,
        dataDir,
        durable: false,
        logLevel: 'error',
      },
      async (listening) => {
        const { url } = listening
        const requests = await fillDemo(url, adminToken)
        process.stderr.write(explain(url, adminToken, requests))
        process.stderr.write(consoleText(listening, defaultConfig))
        process.stdout.write(`stela ready ${url}\n`)
      },
    )
  })

function explain(url: string, token: string, requests: readonly DemoRequest[]): string {
  const shown = requests.map(
    ({ title, path, body }, position) => `
${position + 1}. ${title}:

curl -s ${url}/v1${path} -H 'Token: ${token}' -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'
`,
  )
  return `
The keyspace default_keyspace has a collection "places" and a table "visits".
The token is ${token}. Three things to try, in another terminal:
${shown.join('')}
Open ${url} in a browser for the console. Ctrl-C stops the server and deletes its data.

`
}
