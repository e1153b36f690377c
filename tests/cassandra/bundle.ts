/** A cluster that is accessed through a secure connect bundle. */
import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { accountToken } from '../../src/auth/tokens.ts'
import { startStela } from '../cli/run-stela.ts'
import { ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder } from '../harness.ts'
import { makeCertificate } from '../http/made-certificate.ts'
import { BundledNode } from './bundled-node.ts'
import { makeZip } from './make-zip.ts'
import { testNode } from './test-node.ts'

describe('a secure connect bundle', () => {
  let folder: string
  let bundled: BundledNode
  let account: { name: string; password: string }

  before(async () => {
    folder = await temporaryFolder()
    const node = await testNode()
    account = { name: node.user, password: node.password }
    bundled = await BundledNode.of(node)
  })
  after(async () => {
    bundled.close()
    await rm(folder, { recursive: true, force: true })
  })

  const flagsWith = async (content: Buffer): Promise<string[]> => {
    const file = join(folder, 'bundle.zip')
    await writeFile(file, content)
    const { name, password } = account
    const login = ['--cassandra-user', name, '--cassandra-password', password]
    return ['--engine', 'cassandra', '--secure-connect-bundle', file, ...login]
  }
  const check = async (content: Buffer) =>
    startStela(['check', ...(await flagsWith(content))]).ended

  test('provides the addresses of the nodes and the local data center', async () => {
    const { code, out, err } = await check(makeZip(bundled.files))
    assert.equal(err, '')
    assert.notEqual(code, 2)
    const lines = String(out).split('\n')
    assert.match(lines[0]!, /^release 5\.0/)
    assert(lines.includes('data center datacenter1 (local)'), String(out))
    assert.deepEqual([...bundled.askedFor], [bundled.hostId])
  })

  test('connects a server that serves holders of tokens and users of the cluster', async () => {
    const server = await ServerProcess.start(
      undefined,
      ...(await flagsWith(makeZip(bundled.files))),
      ...['--admin-port', 'off', '--replication', 'datacenter1=1'],
    )
    try {
      for (const token of [undefined, accountToken(account)]) {
        const { body } = await server.command('', { findKeyspaces: {} }, token)
        assert((body.status!['keyspaces'] as string[]).includes('default_keyspace'))
      }
    } finally {
      await server.stop()
    }
  })

  test('is rejected with a message of one line when it is invalid or its addresses are unreachable', async () => {
    const config = (more: object) => ({
      ...bundled.files,
      'config.json': JSON.stringify(more),
    })
    const other = makeCertificate('127.0.0.1')
    for (const [content, why] of [
      [Buffer.from('no archive'), /bundle/],
      [makeZip({ 'ca.crt': other.cert }), /bundle/],
      [makeZip(config({})), /bundle/],
      [makeZip({ ...bundled.files, 'config.json': '{' }), /bundle/],
      [makeZip(config({ host: '127.0.0.1', port: 1 })), /no node.*ECONNREFUSED/],
      [makeZip({ ...bundled.files, 'ca.crt': other.cert }), /no node.*certificate/],
      [makeZip({ ...bundled.files, cert: other.cert, key: other.key }), /no node/],
    ] as const) {
      const { code, out, err } = await check(content)
      assert.deepEqual([code, String(out)], [2, ''], err)
      assert.match(err, why)
      assert.equal(err.trim().split('\n').length, 1, err)
    }
  })
})
