/** Addresses of providers, and protection against addresses in private networks. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  below,
  addressOf,
  UrlProblem,
  type Endpoint,
} from '../../src/providers/provider-url.ts'
import {
  isPrivateHost,
  isPublic,
  lookupPublic,
} from '../../src/providers/public-address.ts'

const guarded: Endpoint = { isOperators: false, mayBePrivate: false }

function template(url: string, more: Partial<Endpoint> = {}): Endpoint {
  return { ...guarded, url, ...more }
}

describe('addresses', () => {
  for (const address of [
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1'],
    ...[
      '127.255.255.254',
      '169.254.169.254',
      '169.254.0.1',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.9.9'],
    ...['198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
    ...[
      '255.255.255.255',
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '::127.0.0.1',
    ],
    ...['64:ff9b::a00:1', '64:ff9b:1::1', '100::1', 'fc00::1', 'fd12:3456::1', 'fe80::1'],
    ...['fe80::1%eth0', 'fec0::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::1'],
    ...['3fff::1', '4000::1', 'fd00:ec2::254', 'not an address', ''],
  ])
    test(`${address} is not public`, () => assert.equal(isPublic(address), false))

  for (const address of [
    ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '100.63.255.255', '100.128.0.0'],
    ...['172.15.255.255', '172.32.0.0', '192.167.255.255', '223.255.255.255'],
    ...['2606:4700::1111', '2a00:1450:4001::1', '2003::1'],
  ])
    test(`${address} is public`, () => assert.equal(isPublic(address), true))

  test('with well-known local names are recognized without DNS', () => {
    for (const host of ['localhost', 'LOCALHOST.', 'x.localhost', '[::1]', '127.0.0.1.'])
      assert.equal(isPrivateHost(host), true, host)
    for (const host of [
      'localhost.example.com',
      'example.com',
      '8.8.8.8',
      '[2606:4700::1]',
    ])
      assert.equal(isPrivateHost(host), false, host)
  })

  const lookup = (host: string, all: boolean) =>
    new Promise<unknown>((resolve, reject) => {
      lookupPublic(host, { all }, (error, address, family) => {
        if (error) reject(error)
        else resolve(all ? address : { address, family })
      })
    })

  test('are resolved for connections only if they are public', async () => {
    assert.deepEqual(await lookup('8.8.8.8', true), [{ address: '8.8.8.8', family: 4 }])
    assert.deepEqual(await lookup('8.8.8.8', false), { address: '8.8.8.8', family: 4 })
    for (const all of [true, false])
      for (const host of ['localhost', '10.0.0.1', '::1'])
        await assert.rejects(lookup(host, all), /leads to/, host)
    await assert.rejects(lookup('nowhere.invalid', true), { syscall: 'getaddrinfo' })
  })
})

describe('the address of a provider', () => {
  test('is the configured URL, and may be private when parameters cannot change its host', () => {
    const place = addressOf(template('https://api.example.com/v1/'), 'm', {})
    assert.equal(place.url.href, 'https://api.example.com/v1/')
    assert.deepEqual([place.isChosen, place.isGuarded], [false, false])
  })

  test('contains the parameters of the collection', () => {
    const url = 'https://{a}.{b}.example.com/x/{c}/y?v=1'
    const place = addressOf(template(url), 'm', { a: 'one', b: 'us-east-1', c: 'p_1.2-3' })
    assert.equal(place.url.href, 'https://one.us-east-1.example.com/x/p_1.2-3/y?v=1')
    assert.deepEqual([place.isChosen, place.isGuarded], [true, true])
  })

  test('must be public if a parameter sets its host, except if the operator set the URL or allows private hosts', () => {
    const inPath = addressOf(template('https://example.com/{a}'), 'm', { a: 'b' })
    assert.deepEqual([inPath.isChosen, inPath.isGuarded], [false, false])
    const set = template('http://{a}.internal/', { isOperators: true })
    const place = addressOf(set, 'm', { a: 'b' })
    assert.deepEqual([place.isChosen, place.isGuarded], [false, false])
    const open = template('http://{a}.internal/', { mayBePrivate: true })
    assert.deepEqual(
      [
        addressOf(open, 'm', { a: 'b' }).isChosen,
        addressOf(open, 'm', { a: 'b' }).isGuarded,
      ],
      [true, false],
    )
  })

  test('rejects parameters that could change another part of the URL', () => {
    const url = 'https://{host}.example.com/{path}/end'
    const hosts = [
      ...['', 'a.b', 'a/b', 'a@b', 'a:1', 'a#', 'a?b', '-a', 'a-', 'é', 'a b', '%2e', '..'],
      ...['evil.com/', '127.0.0.1', '[::1]', 'a\\b', 'a\n', 'x'.repeat(64)],
    ]
    for (const host of hosts)
      assert.throws(
        () => addressOf(template(url), 'm', { host, path: 'p' }),
        UrlProblem,
        host,
      )
    for (const path of [
      '',
      '.',
      '..',
      '...',
      'a/b',
      'a?b',
      'a#b',
      'a%2fb',
      'a\\b',
      'é',
      'a;b',
    ])
      assert.throws(
        () => addressOf(template(url), 'm', { host: 'h', path }),
        UrlProblem,
        path,
      )
    assert.throws(() => addressOf(template(url), 'm', { host: 'h' }), /path/)
    assert.throws(() => addressOf(template(url), 'm', { host: 5, path: 'p' }), UrlProblem)
    assert.throws(
      () => addressOf(template('https://{constructor}.example.com'), 'm', {}),
      UrlProblem,
    )
  })

  test('keeps any accepted parameter within its part of the URL', () => {
    const url = 'https://{host}.example.com/a/{path}/end'
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('a', 'Z', '0', '-', '.', '_', '/', '@', ':', '%', '?', '#'),
      }),
    )
    fc.assert(
      fc.property(text, text, (host, path) => {
        let place
        try {
          place = addressOf(template(url), 'm', { host, path })
        } catch (error) {
          assert(error instanceof UrlProblem)
          return
        }
        assert.match(place.url.host, /^[a-z0-9-]+\.example\.com$/)
        assert.match(place.url.pathname, /^\/a\/[^/]+\/end$/)
        assert.equal(place.url.search, '')
      }),
    )
  })

  test('accepts model names that contain slashes, but none that leave its path', () => {
    const url = 'https://example.com/{modelId}/end'
    assert.equal(addressOf(template(url), 'a/b-1.5', {}).url.pathname, '/a/b-1.5/end')
    for (const name of ['..', 'a/../b', '/a', 'a//b', 'a?b', 'a b', ''])
      assert.throws(() => addressOf(template(url), name, {}), UrlProblem, name)
  })

  test('can be set by the collection with baseUrl', () => {
    const place = addressOf(guarded, 'm', {
      baseUrl: 'https://models.example.com:8443/v1/',
    })
    assert.equal(
      below(place, 'embeddings').url.href,
      'https://models.example.com:8443/v1/embeddings',
    )
    assert.deepEqual([place.isChosen, place.isGuarded], [true, true])
  })

  test('is that of the collection rather than of the operator, and must then be public', () => {
    const set = template('http://10.0.0.1/v1', { isOperators: true })
    assert.equal(addressOf(set, 'm', {}).url.host, '10.0.0.1')
    const place = addressOf(set, 'm', { baseUrl: 'http://example.com' })
    assert.deepEqual(
      [place.url.host, place.isChosen, place.isGuarded],
      ['example.com', true, true],
    )
    assert.throws(() => addressOf(set, 'm', { baseUrl: 'http://10.0.0.1/v1' }), UrlProblem)
  })

  for (const baseUrl of [
    ...['', 'models', '//example.com', 'ftp://example.com', 'file:///etc/passwd'],
    ...[
      'http://user@example.com',
      'http://user:secret@example.com',
      'http://example.com?a=b',
    ],
    ...[
      'http://example.com#a',
      'http://localhost',
      'http://LOCALHOST:8080',
      'http://a.localhost.',
    ],
    ...[
      'http://127.0.0.1',
      'http://127.1',
      'http://0x7f.1',
      'http://2130706433',
      'http://0',
    ],
    ...[
      'http://017700000001',
      'http://[::1]',
      'http://[::ffff:127.0.0.1]',
      'http://[fd00::1]',
    ],
    ...[
      'http://169.254.169.254/latest/meta-data',
      'http://192.168.0.1',
      'http://１２７.0.0.1',
    ],
    ...['http://[fe80::1]', 'http://10.1.2.3:9200', 'http://100.100.100.200'],
  ])
    test(`cannot be "${baseUrl}"`, () => {
      assert.throws(() => addressOf(guarded, 'm', { baseUrl }), UrlProblem)
    })

  test('can be in the private network when the operator allows that', () => {
    const open = { ...guarded, mayBePrivate: true }
    const place = addressOf(open, 'm', { baseUrl: 'http://localhost:1234/v1' })
    assert.deepEqual([place.isChosen, place.isGuarded], [true, false])
    assert.throws(() => addressOf(open, 'm', { baseUrl: 'file:///etc/passwd' }), UrlProblem)
  })

  test('must be set with baseUrl when the provider has no default', () => {
    assert.throws(() => addressOf(guarded, 'm', {}), /baseUrl/)
  })

  test('is extended by a path before its query string', () => {
    const place = addressOf(template('https://example.com/v1/?key=1'), 'm', {})
    assert.equal(below(place, 'a/b').url.href, 'https://example.com/v1/a/b?key=1')
  })
})
