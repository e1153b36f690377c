import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodePiece, sign } from '../../src/providers/aws-signature.ts'

const keys = {
  accessId: 'AKIDEXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const request = {
  url: new URL('https://example.amazonaws.com/'),
  body: '',
  region: 'us-east-1',
  service: 'service',
  at: new Date('2015-08-30T12:36:00Z'),
}

function signatureOf(headers: Record<string, string>): string {
  return /Signature=(.*)$/.exec(headers['authorization']!)![1]!
}

describe('a signature', () => {
  test('equals that of the case post-vanilla in the test suite published by AWS', () => {
    assert.deepEqual(sign(request, {}, keys), {
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
        'SignedHeaders=host;x-amz-date, ' +
        'Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    })
  })

  test('changes with every signed part of the request', () => {
    const plain = signatureOf(sign(request, {}, keys))
    for (const [changed, headers, otherKeys] of [
      [{ ...request, body: '{}' }, {}, keys],
      [{ ...request, url: new URL('https://example.amazonaws.com/a%3Ab') }, {}, keys],
      [{ ...request, region: 'eu-west-1' }, {}, keys],
      [{ ...request, at: new Date('2015-08-31T12:36:00Z') }, {}, keys],
      [request, { 'content-type': 'application/json' }, keys],
      [request, {}, { ...keys, secretKey: 'other' }],
    ] as const)
      assert.notEqual(signatureOf(sign(changed, headers, otherKeys)), plain)
  })

  test('percent-encodes all characters except unreserved ones', () => {
    assert.equal(encodePiece("a:b/c(d)*!'~-_."), 'a%3Ab%2Fc%28d%29%2A%21%27~-_.')
  })
})
