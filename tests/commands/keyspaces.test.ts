import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import type { Replication } from '../../src/engine/schema.ts'
import { openEmbedded } from '../engine/embedded/embedded-store.ts'
import { startServer, type TestServer } from '../harness.ts'
import { unlessOnCluster } from '../test-engine.ts'

let server: TestServer
beforeEach(async () => {
  server = await startServer()
})
afterEach(() => server.close())

function general(body: unknown) {
  return server.command('', body)
}

async function keyspaces(): Promise<unknown> {
  return (await general({ findKeyspaces: {} })).body.status!['keyspaces']
}

describe('findKeyspaces', () => {
  test('finds default_keyspace on a new server', async () => {
    assert.deepEqual(await keyspaces(), ['default_keyspace'])
  })

  test('lists keyspaces by name', async () => {
    for (const name of ['b', 'a', 'C']) await general({ createKeyspace: { name } })
    assert.deepEqual(await keyspaces(), ['C', 'a', 'b', 'default_keyspace'])
  })

  test('accepts only empty options', async () => {
    for (const options of [null, {}])
      assert.deepEqual((await general({ findKeyspaces: { options } })).codes, [])
    const answer = await general({ findKeyspaces: { options: { explain: true } } })
    assert.deepEqual(answer.codes, ['COMMAND_ACCEPTS_NO_OPTIONS'])
  })
})

describe('createKeyspace', () => {
  test('creates a keyspace that can be used immediately', async () => {
    const answer = await general({ createKeyspace: { name: 'shop' } })
    assert.deepEqual(answer.body, { status: { ok: 1 } })
    const found = await server.command('/shop', { findCollections: {} })
    assert.deepEqual(found.body, { status: { collections: [] } })
  })

  test('keeps an existing keyspace unchanged', async () => {
    await general({ createKeyspace: { name: 'shop' } })
    await server.command('/shop', { createCollection: { name: 'books' } })
    const answer = await general({ createKeyspace: { name: 'shop' } })
    assert.deepEqual(answer.body, { status: { ok: 1 } })
    const found = await server.command('/shop', { findCollections: {} })
    assert.deepEqual(found.body, { status: { collections: ['books'] } })
  })

  test('treats names as case-sensitive', async () => {
    await general({ createKeyspace: { name: 'shop' } })
    await general({ createKeyspace: { name: 'Shop' } })
    await server.command('/shop', { createCollection: { name: 'books' } })
    const found = await server.command('/Shop', { findCollections: {} })
    assert.deepEqual(found.body, { status: { collections: [] } })
  })

  test('rejects names that are missing, empty, too long or with invalid characters', async () => {
    const longest = 'n'.repeat(48)
    assert.deepEqual((await general({ createKeyspace: { name: longest } })).codes, [])
    for (const name of [
      undefined,
      null,
      '',
      `${longest}n`,
      'a-b',
      'a b',
      'é',
      '../x',
      'x\n',
    ]) {
      const answer = await general({ createKeyspace: { name } })
      assert.deepEqual(answer.codes, ['UNSUPPORTED_SCHEMA_NAME'], String(name))
      assert(answer.body.errors![0]!.message.includes('48'))
    }
    assert.deepEqual(await keyspaces(), ['default_keyspace', longest])
  })

  test('rejects a name of another type than string', async () => {
    const answer = await general({ createKeyspace: { name: 7 } })
    assert.deepEqual(answer.codes, ['REQUEST_STRUCTURE_MISMATCH'])
  })

  for (const replication of [
    { class: 'SimpleStrategy' },
    { class: 'SimpleStrategy', replication_factor: 2 },
    { class: 'SimpleStrategy', replicationFactor: 1 },
    { class: 'NetworkTopologyStrategy', dc1: 3, dc2: 1 },
    null,
  ])
    test(
      `accepts replication ${JSON.stringify(replication)}`,
      replication && 'dc1' in replication ? unlessOnCluster : {},
      async () => {
        const answer = await general({
          createKeyspace: { name: 'shop', options: { replication } },
        })
        assert.deepEqual(answer.body, { status: { ok: 1 } })
      },
    )

  test('passes the replication to the engine', async (context) => {
    const { engine } = await openEmbedded(context)
    const given = new Map<string, Replication | undefined>()
    const noting: Engine = {
      ...engine,
      createKeyspace(name, options) {
        given.set(name, options?.replication)
        return engine.createKeyspace(name, options)
      },
    }
    const other = await startServer({}, { ...noting, as: () => noting })
    context.after(() => other.close())
    const create = (name: string, replication?: object) =>
      other.command('', { createKeyspace: { name, options: { replication } } })
    await create('plain')
    await create('simple', { class: 'SimpleStrategy', replication_factor: 2 })
    await create('spread', { dc1: 3, class: 'NetworkTopologyStrategy', dc2: 1 })
    assert.deepEqual(
      [...given],
      [
        ['plain', undefined],
        [
          'simple',
          { class: 'SimpleStrategy', counts: new Map([['replication_factor', 2]]) },
        ],
        [
          'spread',
          {
            class: 'NetworkTopologyStrategy',
            counts: new Map([
              ['dc1', 3],
              ['dc2', 1],
            ]),
          },
        ],
      ],
    )
  })

  for (const [replication, code] of [
    [{ class: 'LocalStrategy' }, 'COMMAND_FIELD_VALUE_INVALID'],
    [{ replication_factor: 1 }, 'COMMAND_FIELD_VALUE_INVALID'],
    [{ class: 'SimpleStrategy', replication_factor: '1' }, 'REQUEST_STRUCTURE_MISMATCH'],
    [{ class: 'SimpleStrategy', replication_factor: 1.5 }, 'REQUEST_STRUCTURE_MISMATCH'],
    ['SimpleStrategy', 'REQUEST_STRUCTURE_MISMATCH'],
  ] as const)
    test(`rejects replication ${JSON.stringify(replication)}`, async () => {
      const answer = await general({
        createKeyspace: { name: 'shop', options: { replication } },
      })
      assert.deepEqual(answer.codes, [code])
    })

  test('rejects unknown options', async () => {
    const answer = await general({
      createKeyspace: { name: 'shop', options: { durable: true } },
    })
    assert.deepEqual(answer.codes, ['COMMAND_FIELD_UNKNOWN'])
  })
})

describe('dropKeyspace', () => {
  test('drops a keyspace with all its contents', async () => {
    await general({ createKeyspace: { name: 'shop' } })
    await server.command('/shop', { createCollection: { name: 'books' } })
    assert.deepEqual((await general({ dropKeyspace: { name: 'shop' } })).body, {
      status: { ok: 1 },
    })
    assert.deepEqual(await keyspaces(), ['default_keyspace'])
    for (const [path, body] of [
      ['/shop', { findCollections: {} }],
      ['/shop/books', { find: {} }],
    ] as const)
      assert.deepEqual((await server.command(path, body)).codes, ['UNKNOWN_KEYSPACE'])
    await general({ createKeyspace: { name: 'shop' } })
    const found = await server.command('/shop', { findCollections: {} })
    assert.deepEqual(found.body, { status: { collections: [] } })
  })

  test('succeeds for a keyspace that does not exist', async () => {
    assert.deepEqual((await general({ dropKeyspace: { name: 'shop' } })).body, {
      status: { ok: 1 },
    })
  })

  test('requires a name', async () => {
    for (const name of [undefined, null, '']) {
      const answer = await general({ dropKeyspace: { name } })
      assert.deepEqual(answer.codes, ['COMMAND_FIELD_VALUE_INVALID'])
      assert(answer.body.errors![0]!.message.includes('command.name'))
    }
  })
})

describe('the deprecated names of keyspace commands', () => {
  test('work like the new names and cause a warning', async () => {
    for (const [body, status] of [
      [{ createNamespace: { name: 'shop' } }, { ok: 1 }],
      [{ findNamespaces: {} }, { namespaces: ['default_keyspace', 'shop'] }],
      [{ dropNamespace: { name: 'shop' } }, { ok: 1 }],
    ] as const) {
      const answer = await general(body)
      assert.equal(answer.http, 200)
      const { warnings, ...rest } = answer.body.status!
      assert.deepEqual(rest, status)
      assert.equal(warnings!.length, 1)
      const [{ family, scope, errorCode, message }] = warnings as [
        (typeof warnings & {})[0] & {},
      ]
      assert.deepEqual(
        [family, scope, errorCode],
        ['REQUEST', 'WARNING', 'DEPRECATED_COMMAND'],
      )
      const [command] = Object.keys(body)
      assert(message.includes(command!))
      assert(message.includes(command!.replace('Namespace', 'Keyspace')))
    }
  })

  test('cause the warning even in replies with errors', async () => {
    for (const [body, code] of [
      [{ createNamespace: { name: '' } }, 'UNSUPPORTED_SCHEMA_NAME'],
      [{ findNamespaces: { x: 1 } }, 'COMMAND_FIELD_UNKNOWN'],
    ] as const) {
      const answer = await server.command('', body)
      assert.equal(answer.http, 200)
      assert.deepEqual(answer.codes, [code])
      assert.deepEqual(Object.keys(answer.body), ['status', 'errors'])
      assert.deepEqual(
        answer.body.status!.warnings!.map((warning) => warning.errorCode),
        ['DEPRECATED_COMMAND'],
      )
    }
  })
})
