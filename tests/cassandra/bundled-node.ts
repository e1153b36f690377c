/**
 * A node that is accessed like a node of Astra. The bundle contains the address of a metadata
 * service, which lists the nodes. All nodes share one address, and each connection names its node
 * by SNI. The service and the shared address accept only clients with the certificate of the
 * bundle.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { makeCertificate } from '../http/made-certificate.ts'
import { clientOf, type ConnectOptions } from './connect.ts'
import { Line } from './line.ts'

const address = '127.0.0.1'

export class BundledNode {
  readonly #service: Server
  readonly #line: Line
  /** Files of the bundle, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Host ids that connections requested. */
  readonly askedFor: ReadonlySet<string>
  readonly hostId: string

  private constructor(
    parts: Pick<BundledNode, 'files' | 'askedFor' | 'hostId'>,
    service: Server,
    line: Line,
  ) {
    this.files = parts.files
    this.askedFor = parts.askedFor
    this.hostId = parts.hostId
    this.#service = service
    this.#line = line
  }

  static async of(node: ConnectOptions): Promise<BundledNode> {
    const hostId = await hostIdOf(node)
    const [own, client] = [makeCertificate(address), makeCertificate('bundle')]
    const tls = { ...own, requestCert: true, ca: [client.cert] }
    const askedFor = new Set<string>()
    const context = createSecureContext(tls)
    const line = await Line.to(node.contactPoints[0]!, node.port, {
      ...tls,
      SNICallback(
        name: string,
        found: (error: Error | null, context?: SecureContext) => void,
      ) {
        askedFor.add(name)
        if (name === hostId) found(null, context)
        else found(new Error(`there is no node ${name}`))
      },
    })
    const metadata = {
      version: 1,
      region: 'local',
      contact_info: {
        type: 'sni_proxy',
        local_dc: node.localDatacenter,
        sni_proxy_address: `${address}:${line.port}`,
        contact_points: [hostId],
      },
    }
    const service = createServer(tls, ({ url }, response) => {
      response.statusCode = url === '/metadata' ? 200 : 404
      response.end(JSON.stringify(metadata))
    })
    await once(service.listen(0, address), 'listening')
    const { port } = service.address() as AddressInfo
    const config = JSON.stringify({ host: address, port, localDC: node.localDatacenter })
    const files = {
      'config.json': config,
      'ca.crt': own.cert,
      cert: client.cert,
      key: client.key,
    }
    return new BundledNode({ files, askedFor, hostId }, service, line)
  }

  close(): void {
    this.#service.close()
    this.#service.closeAllConnections()
    this.#line.cut()
  }
}

async function hostIdOf(node: ConnectOptions): Promise<string> {
  const client = clientOf(node)
  try {
    const { rows } = await client.execute('SELECT host_id FROM system.local')
    return String(rows[0]!['host_id'])
  } finally {
    await client.shutdown()
  }
}
