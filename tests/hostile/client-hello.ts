/** The first message of a TLS handshake, as bytes. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Records the ClientHello of a real client. Any number of connections may replay it. */
export async function clientHello(): Promise<Buffer> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const client = connectTls({ host: '127.0.0.1', port, ALPNProtocols: ['h2'] })
  client.on('error', () => undefined)
  const [socket] = (await once(listener, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  listener.close()
  return hello
}
