import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { addressOfClient } from '../../src/http/client-address.ts'

function addressIn(forwarded: string | undefined, isBehindProxy = true): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  const socket = { remoteAddress: '10.0.0.1' }
  return addressOfClient({ headers, socket } as unknown as IncomingMessage, {
    isBehindProxy,
  })
}

for (const [forwarded, address] of [
  ['1.2.3.4', '1.2.3.4'],
  ['1.2.3.4:5678', '1.2.3.4'],
  ['9.9.9.9, 1.2.3.4:5678', '1.2.3.4'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['[::1]:99', '::1'],
  ['2001:db8::1:99', '2001:db8::1:99'],
  ['', '10.0.0.1'],
  ['1.2.3.4, ', '10.0.0.1'],
] as const)
  test(`a request with X-Forwarded-For: ${forwarded} comes from ${address}`, () => {
    assert.equal(addressIn(forwarded), address)
  })

test('without a proxy or its header, the client address is that of the connection', () => {
  assert.equal(addressIn('1.2.3.4', false), '10.0.0.1')
  assert.equal(addressIn(undefined), '10.0.0.1')
})
