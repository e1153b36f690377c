/** A cluster that accepts only encrypted connections. */
import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { startStela } from '../cli/run-stela.ts'
import { ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder } from '../harness.ts'
import { makeCertificate, saveCertificate } from '../http/made-certificate.ts'
import { flagsOf } from './connect.ts'
import { Line } from './line.ts'
import { testNode } from './test-node.ts'

describe('encrypted connections', () => {
  let folder: string
  const made = {
    own: makeCertificate('node'),
    elsewhere: makeCertificate('node', [10, 0, 0, 1]),
    client: makeCertificate('server'),
  }
  const files = new Map<string, { certFile: string; keyFile: string }>()

  before(async () => {
    folder = await temporaryFolder()
    for (const [name, certificate] of Object.entries(made)) {
      await mkdir(join(folder, name))
      files.set(name, await saveCertificate(join(folder, name), certificate))
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const certOf = (name: keyof typeof made) => files.get(name)!.certFile

  /** Runs `stela check`. Returns its output and its exit code. */
  const check = async (tls: TlsOptions, ...flags: string[]) => {
    const node = await testNode()
    // Shortens the wait for a client that does not encrypt.
    const hasty = { ...tls, handshakeTimeout: 1_000 }
    const line = await Line.to(node.contactPoints[0]!, node.port, hasty)
    try {
      const where = flagsOf({ ...node, port: line.port })
      const args = ['check', '--engine', 'cassandra', ...where, ...flags]
      const { code, out, err } = await startStela(args).ended
      return { code, err, first: String(out).split('\n')[0]! }
    } finally {
      line.cut()
    }
  }
  const isAnswered = ({ code, err, first }: Awaited<ReturnType<typeof check>>) => {
    assert.match(first, /^release 5\.0/, err)
    assert.notEqual(code, 2)
  }
  const isRefused = (
    { code, err, first }: Awaited<ReturnType<typeof check>>,
    why: RegExp,
  ) => {
    assert.deepEqual([code, first], [2, ''])
    assert.match(err, why)
    assert.equal(err.trim().split('\n').length, 1, err)
  }

  test('succeed when nodes have a trusted certificate', async () => {
    const trusted = ['--cassandra-tls', 'on', '--cassandra-ca', certOf('own')]
    isAnswered(await check(made.own, ...trusted))
  })

  test('are rejected when the certificate has another issuer or names another node', async () => {
    const on = ['--cassandra-tls', 'on', '--cassandra-ca']
    isRefused(await check(made.own, ...on, certOf('elsewhere')), /no node.*certificate/i)
    isRefused(await check(made.elsewhere, ...on, certOf('elsewhere')), /no node.*ALTNAME/i)
    const any = ['--cassandra-tls', 'any-host', '--cassandra-ca', certOf('elsewhere')]
    isAnswered(await check(made.elsewhere, ...any))
  })

  test('are required by a node that has a certificate', async () => {
    isRefused(await check(made.own), /no node of the cluster/)
  })

  test('present the client certificate to nodes that require one', async () => {
    const asking = { ...made.own, requestCert: true, ca: [made.client.cert] }
    const on = ['--cassandra-tls', 'on', '--cassandra-ca', certOf('own')]
    const { certFile, keyFile } = files.get('client')!
    isAnswered(
      await check(asking, ...on, '--cassandra-cert', certFile, '--cassandra-key', keyFile),
    )
    isRefused(await check(asking, ...on), /no node of the cluster/)
  })

  test('carry the commands of a server', async () => {
    const node = await testNode()
    const line = await Line.to(node.contactPoints[0]!, node.port, made.own)
    const server = await ServerProcess.start(
      undefined,
      ...['--engine', 'cassandra', ...flagsOf({ ...node, port: line.port })],
      ...['--cassandra-tls', 'on', '--cassandra-ca', certOf('own')],
      ...['--admin-port', 'off', '--replication', 'datacenter1=1'],
    )
    try {
      const { body } = await server.command('', { findKeyspaces: {} })
      assert((body.status!['keyspaces'] as string[]).includes('default_keyspace'))
    } finally {
      await server.stop()
      line.cut()
    }
  })
})
