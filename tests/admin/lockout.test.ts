/** Lockout delays clients that guess credentials, and does not affect other clients. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testToken } from '../harness.ts'
import { AdminServer, messageIn } from './admin-server.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const annToken = `Cassandra:${base64('ann')}:${base64('secret')}`
const find = { findKeyspaces: {} }

/**
 * Sends eight more invalid tokens, which lengthen the lockout to a minute: longer than the test
 * takes.
 */
async function guessOn(admin: AdminServer, headers = {}): Promise<void> {
  for (let i = 0; i < 8; i++) {
    const token = `Stela:none:${String(i).repeat(64)}`
    await admin.call('GET', '/currentOrg', { token, headers })
  }
}

describe('an address that sends invalid credentials', () => {
  const admin = new AdminServer({
    badCredentialsMax: 3,
    accounts: [{ name: 'ann', password: 'secret' }],
  })

  test('is locked out at the ports of both APIs', async () => {
    // This call makes the lockout record testToken as valid for this address.
    const { token, clientId } = await admin.tokenOf('RO User')
    for (const guess of ['one', 'two', 'three']) {
      const answer = await admin.command('', find, guess)
      assert.deepEqual([answer.http, answer.codes], [401, ['UNAUTHENTICATED_REQUEST']])
    }
    await guessOn(admin)
    const locked = await admin.command('', find, 'four')
    assert.deepEqual([locked.http, locked.codes], [429, ['CREDENTIALS_LOCKED']])
    assert.match(locked.body.errors![0]!.message, /after \d+ s\./)
    assert.match(locked.headers.get('retry-after')!, /^[1-9]\d*$/)

    const refused = await admin.call('GET', '/currentOrg', { token: 'five' })
    assert.equal(refused.http, 429)
    assert.match(messageIn(refused), /invalid credentials/)
    assert.match(refused.headers.get('retry-after')!, /^[1-9]\d*$/)

    // A valid password is rejected as well if this address had not used it before the lockout,
    // because passwords can be guessed.
    assert.equal((await admin.command('', find, annToken)).http, 429)

    // Generated tokens, and credentials that this address used before the lockout, are accepted,
    // even on new connections.
    const headers = { Connection: 'close' }
    for (const good of [token, testToken]) {
      assert.equal((await admin.server.command('', find, { Token: good })).http, 200)
      assert.equal(
        (await admin.call('GET', '/currentOrg', { token: good, headers })).http,
        200,
      )
    }
    await admin.ask('DELETE', `/clientIdSecrets/${clientId}`)
    assert.equal((await admin.command('', find, token)).http, 401)
  })
})

describe('behind a proxy', () => {
  const admin = new AdminServer({ badCredentialsMax: 2, isBehindProxy: true })
  const from = (address: string) => ({ 'X-Forwarded-For': `10.0.0.1, ${address}` })

  test('the client address is the last one in the forwarding header', async () => {
    for (const guess of ['one', 'two']) {
      const options = { token: guess, headers: from('203.0.113.7') }
      await admin.refuse(401, 'GET', '/currentOrg', options)
    }
    await guessOn(admin, from('203.0.113.7'))
    const options = { token: 'three', headers: from('203.0.113.7') }
    await admin.refuse(429, 'GET', '/currentOrg', options)
    const elsewhere = { token: 'three', headers: from('203.0.113.8') }
    await admin.refuse(401, 'GET', '/currentOrg', elsewhere)
  })

  test('invalid tokens count towards the lockout on every path', async () => {
    const options = { token: 'one', headers: from('203.0.113.9') }
    for (const path of ['/nowhere', '/%zz']) await admin.refuse(401, 'GET', path, options)
    await admin.refuse(429, 'GET', '/currentOrg', options)
  })
})
