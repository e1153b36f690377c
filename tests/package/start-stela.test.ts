/**
 * Tests startStela as test suites use it: what the server does, and when the server ends and its
 * folder is removed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { startStela, type Stela } from '../../src/start-stela.ts'
import { temporaryFolder } from '../harness.ts'
import { makeCertificate } from '../http/made-certificate.ts'

async function send({ url, token }: Stela, path: string, body: object): Promise<string> {
  const response = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { Token: token },
    body: Buffer.from(JSON.stringify(body)),
  })
  return response.text()
}

describe('startStela', () => {
  let one: Stela
  before(async () => {
    process.env['STELA_PAGE_SIZE'] = 'not for tests'
    one = await startStela({ keyspaces: ['library', 'archive'] })
  })
  after(async () => {
    delete process.env['STELA_PAGE_SIZE']
    await one.close()
  })

  test('creates the requested keyspaces besides the default one', async () => {
    const answer = await send(one, '', { findKeyspaces: {} })
    const { status } = JSON.parse(answer) as { status: { keyspaces: string[] } }
    assert.deepEqual(status.keyspaces.toSorted(), [
      'archive',
      'default_keyspace',
      'library',
    ])
  })

  test('rejects requests without the token', async () => {
    const answer = await send({ ...one, token: 'another' }, '', { findKeyspaces: {} })
    assert.match(answer, /UNAUTHENTICATED|INVALID_TOKEN|token/i)
    assert.doesNotMatch(answer, /keyspaces/)
  })

  test('gives each server its own port, token and folder', async () => {
    await using another = await startStela({ settings: { 'page-size': 2 } })
    assert.notEqual(another.url, one.url)
    assert.notEqual(another.token, one.token)
    assert.notEqual(another.data, one.data)
    await send(another, '/default_keyspace', { createCollection: { name: 'a' } })
    const documents = [{}, {}, {}]
    await send(another, '/default_keyspace/a', { insertMany: { documents } })
    const page = await send(another, '/default_keyspace/a', { find: {} })
    const { data } = JSON.parse(page) as { data: { documents: unknown[] } }
    assert.equal(data.documents.length, 2)
  })

  test('removes a temporary folder when it is closed, and may be closed twice', async () => {
    const stela = await startStela({ token: 'mine' })
    assert.equal(stela.token, 'mine')
    assert(existsSync(stela.data))
    await stela.close()
    await stela.close()
    assert(!existsSync(stela.data))
    await assert.rejects(fetch(stela.url))
  })

  test('keeps a given folder and its contents', async () => {
    const data = await temporaryFolder()
    const first = await startStela({ data, keyspaces: ['kept'] })
    await first.close()
    await using second = await startStela({ data })
    assert.match(await send(second, '', { findKeyspaces: {} }), /"kept"/)
    await second.close()
    await rm(data, { recursive: true })
  })

  test('names the invalid option in its error', async () => {
    await assert.rejects(startStela({ settings: { prot: 1 } }), /--prot/)
    await assert.rejects(
      startStela({ settings: { 'page-size': 0 } }),
      /page-size.*at least 1/s,
    )
    await assert.rejects(startStela({ keyspaces: ['not a name'] }), /not a name/)
    await assert.rejects(startStela({ settings: { data: 'elsewhere' } }), /data/)
    await assert.rejects(startStela({ token: '' }), /token is empty/)
  })

  test('creates keyspaces also when the server uses TLS', async () => {
    const folder = await temporaryFolder()
    const { cert, key } = makeCertificate()
    const settings = { 'tls-cert': join(folder, 'cert'), 'tls-key': join(folder, 'key') }
    await writeFile(settings['tls-cert'], cert)
    await writeFile(settings['tls-key'], key)
    await using secured = await startStela({ keyspaces: ['library'], settings })
    assert.match(secured.url, /^https:/)
    await rm(folder, { recursive: true })
  })

  test('stops the server when the process that started it ends, in whatever way', async () => {
    const folder = await temporaryFolder()
    const entry = new URL('../../src/start-stela.ts', import.meta.url).href
    const script = `
      import { startStela } from '${entry}'
      const { url } = await startStela()
      process.stdout.write(url)
      if (process.argv.includes('wait')) setInterval(() => undefined, 1000)`
    const run = (...args: string[]) =>
      spawn(process.execPath, ['--input-type=module', '--eval', script, '--', ...args], {
        env: { ...process.env, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      })

    // The script does not close the server, but exits nevertheless.
    const forgetful = run()
    const url = await text(forgetful.stdout)
    assert.match(url, /^http:/)

    const killed = run('wait')
    const [killedUrl] = (await once(killed.stdout, 'data')) as [Buffer]
    killed.kill('SIGKILL')

    while (readdirSync(folder).length > 0) await pause(20)
    for (const gone of [url, String(killedUrl)]) await assert.rejects(fetch(gone))
    await rm(folder, { recursive: true })
  })
})
