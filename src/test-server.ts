/** The child process of a server that a test starts; start-stela.ts is the parent. */
import { rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { flushCompileCache } from 'node:module'
import { json } from 'node:stream/consumers'
import { Command } from 'commander'
import { http } from './runtime/node-http.ts'
import { build } from './server.ts'
import { readConfig, type Config } from './settings/config.ts'
import { serveOptions } from './settings/serve-options.ts'

/** Message from the parent. */
export interface TestServerOrder {
  /** Flags of `stela serve`. */
  readonly flags: readonly string[]
  readonly keyspaces: readonly string[]
  readonly token: string
  /** Temporary folder, removed at the end. */
  readonly temporary: string | undefined
}

/** The single reply to the parent. */
export type TestServerReport = { readonly url: string } | { readonly problem: string }

// Ctrl-C reaches all processes of a terminal, but the server must outlive the tests that use it.
process.on('SIGINT', () => undefined)

process.once('message', (order: TestServerOrder) => {
  void serve(order)
})

async function serve({
  flags,
  keyspaces,
  token,
  temporary,
}: TestServerOrder): Promise<void> {
  const gone = new Promise((resolve) => process.once('disconnect', resolve))
  try {
    const server = await build({ ...readFlags(flags), adminToken: token })
    const { url } = await server.listen()
    for (const name of keyspaces) await createKeyspace(url, token, name)
    await report({ url })
    flushCompileCache()
    await gone
    await server.close()
  } catch (error) {
    await report({ problem: (error as Error).message })
  }
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  process.exit()
}

/**
 * Sends the report. The promise settles after the message was sent, because a process that exits
 * earlier loses it.
 */
function report(what: TestServerReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(what, () => resolve())
    else resolve()
  })
}

function readFlags(flags: readonly string[]): Config {
  const command = new Command('startStela')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
  for (const option of serveOptions()) command.addOption(option)
  command.parse(flags, { from: 'user' })
  const isGiven = (name: string) => flags.includes(`--${name}`)
  return readConfig(command.opts(), isGiven)
}

async function createKeyspace(url: string, token: string, name: string): Promise<void> {
  const { request } = url.startsWith('https:') ? https : http
  const options = {
    method: 'POST',
    headers: { Token: token, 'Content-Type': 'application/json' },
    // Certificates are not checked: the connection is to this process itself.
    rejectUnauthorized: false,
  }
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${url}/v1`, options, resolve).on('error', reject)
    sent.end(JSON.stringify({ createKeyspace: { name } }))
  })
  const { errors } = (await json(answered)) as { errors?: readonly { message: string }[] }
  if (errors !== undefined) throw new Error(errors[0]!.message)
}
