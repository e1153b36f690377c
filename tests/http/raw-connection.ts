/** A connection on which a test controls every byte. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { testToken } from '../harness.ts'

export async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // Tests make the server close many of these connections, which is an error for the client.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/**
 * The head of a request whose body has `length` bytes. If `length` is undefined, the body is
 * chunked.
 */
export function headOf(
  length: number | undefined,
  path = '/v1',
  headers: Record<string, string> = {},
): string {
  const all = {
    Host: 'test',
    Token: testToken,
    ...(length === undefined
      ? { 'Transfer-Encoding': 'chunked' }
      : { 'Content-Length': String(length) }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

export function requestOf(command: object, path = '/v1', headers = {}): string {
  const body = JSON.stringify(command)
  return headOf(body.length, path, headers) + body
}

/** Reads until the text has arrived. Throws if the connection ends before. */
export async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(end)) return text
  }
  throw new Error(`the connection ended after: ${text.slice(0, 500)}`)
}

/** Reads one reply with its head and body. Later bytes stay in the socket for the next read. */
export async function readReply(socket: Socket): Promise<string> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    const [head] = /^.*?\r\n\r\n/s.exec(bytes.toString('latin1')) ?? []
    if (head === undefined) continue
    const size = head.length + Number(/^Content-Length: (\d+)/im.exec(head)![1])
    if (bytes.length < size) continue
    if (bytes.length > size) socket.unshift(bytes.subarray(size))
    return bytes.toString('utf8', 0, size)
  }
  throw new Error(`the connection ended after: ${bytes.toString('utf8', 0, 500)}`)
}
