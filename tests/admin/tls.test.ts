/** With a certificate, the management API is served over TLS too. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { startServer, temporaryFolder, testToken, type TestServer } from '../harness.ts'
import { H2Client } from '../http/h2-client.ts'
import { makeCertificate, saveCertificate } from '../http/made-certificate.ts'
import type { WireDatabase } from './admin-server.ts'

const made = makeCertificate()
let folder: string
let server: TestServer

before(async () => {
  folder = await temporaryFolder()
  const tls = await saveCertificate(folder, made)
  server = await startServer({ adminPort: 0, tls, badCredentialsMax: 2 })
})

after(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

test('the management API answers over HTTP/1.1', async () => {
  assert(server.adminUrl.startsWith('https://'))
  const sent = request(`${server.adminUrl}/v2/databases`, {
    ca: made.cert,
    agent: false,
    headers: { Authorization: `Bearer ${testToken}` },
  }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  const [home] = JSON.parse(text) as [WireDatabase]
  assert.equal(home.dataEndpointUrl, server.url)
})

test('the management API answers concurrent requests over HTTP/2', async () => {
  const client = await H2Client.connect(server.adminUrl, made.cert)
  const path = '/v2/databases'
  const create = (name: string) =>
    client.send({ ':method': 'POST', ':path': path }, JSON.stringify({ name }))
  const [one, two] = await Promise.all([create('one'), create('two')])
  assert.deepEqual([one.status, two.status], [201, 201])
  const id = one.headers.location!
  const [shown, unknown, locked] = await Promise.all([
    client.send({ ':path': `${path}/${id}` }),
    client.send({ ':path': `${path}/none` }),
    client.send({ ':path': path, token: 'wrong' }),
  ])
  assert.equal((JSON.parse(shown.text) as WireDatabase).info.name, 'one')
  assert.equal(unknown.status, 404)
  assert.equal(locked.status, 401)
  const ended = await client.send({ ':method': 'POST', ':path': `${path}/${id}/terminate` })
  assert.deepEqual([ended.status, ended.text], [202, ''])
  await client.close()
})
