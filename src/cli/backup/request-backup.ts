/** Requests a backup from the management port of a running server. */
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { http } from '../../runtime/node-http.ts'
import { CommandFailure } from '../records/failure.ts'

export interface BackupRequest {
  readonly adminUrl: string
  readonly token: string | undefined
  /** Keys of files that are already in the folder. */
  readonly have: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Milliseconds without a byte after which the server counts as unreachable. A running server sends
 * a keep-alive every 10 s.
 */
const silenceMsMax = 120_000

export async function requestBackup(asked: BackupRequest): Promise<IncomingMessage> {
  const response = await post(asked)
  if (response.statusCode === 200) return response
  const message = messageIn(await textOf(response))
  const { adminUrl } = asked
  switch (response.statusCode) {
    case 401:
      throw new CommandFailure(
        `${adminUrl} does not accept the token. ${message} Set STELA_TOKEN to a ` +
          'token of that server.',
      )
    case 403:
      throw new CommandFailure(
        `the token may not make backups. ${message} Use a token of an Organization ` +
          'Administrator.',
      )
    case 404:
    case 405:
      throw new CommandFailure(
        `${adminUrl} is not the management API of a Stela server. Check --admin-url.`,
      )
    default:
      throw new CommandFailure(
        `${adminUrl} answered with HTTP status ${response.statusCode ?? 0}. ${message}`,
      )
  }
}

function post({ adminUrl, token, have, signal }: BackupRequest): Promise<IncomingMessage> {
  const body = Buffer.from(JSON.stringify({ have }))
  return new Promise((resolve, reject) => {
    const { request } = adminUrl.startsWith('https:') ? https : http
    const sent = request(`${adminUrl}/v2/stela/backup`, {
      method: 'POST',
      signal,
      timeout: silenceMsMax,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
    })
    sent.on('timeout', () => sent.destroy(new Error('the server stopped sending')))
    sent.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      // If several addresses of a host refuse the connection, the error has a code but no message.
      const reason = message === '' ? (code ?? 'no connection') : message
      reject(
        new CommandFailure(
          `cannot reach the server at ${adminUrl}: ${reason}. Check --admin-url.`,
        ),
      )
    })
    sent.on('response', resolve)
    sent.end(body)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk
      if (text.length > 100_000) break
    }
  } catch {
    // If the connection fails before the end of the body, the error states only the HTTP status.
  }
  return text
}

/** The error message in a reply of the management API. */
function messageIn(text: string): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: readonly { message?: unknown }[] }
    const message = errors?.[0]?.message
    return typeof message === 'string' ? message : ''
  } catch {
    return ''
  }
}
