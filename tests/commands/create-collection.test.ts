import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'

const keyspace = '/default_keyspace'

describe('createCollection', () => {
  let server: TestServer
  before(async () => (server = await startServer({ durable: false })))
  after(() => server.close())

  const create = (name: unknown, options?: unknown, headers?: Record<string, string>) =>
    server.command(keyspace, { createCollection: { name, options } }, headers)

  test('returns ok once the collection exists', async () => {
    isOk(await create('plain'))
    const listed = await server.command(keyspace, { findCollections: {} })
    assert.ok((listed.body.status?.['collections'] as string[]).includes('plain'))
    const answer = await server.command(`${keyspace}/plain`, { countDocuments: {} })
    assert.deepEqual(answer.body, { status: { count: 0 } })
  })

  test('accepts absent, null and empty options', async () => {
    isOk(await create('no_options'))
    isOk(await create('no_options', null))
    isOk(await create('no_options', {}))
  })

  test('accepts names of 1 to 48 letters, digits and underscores, case-sensitive', async () => {
    for (const name of ['a', '_', '0', 'A_1', 'a_1', 'n'.repeat(48)])
      isOk(await create(name))
  })

  test('rejects names with other lengths or characters', async () => {
    for (const name of [
      undefined,
      null,
      '',
      'n'.repeat(49),
      'a-b',
      'a b',
      'é',
      'a\n',
      '../a',
    ]) {
      const answer = await create(name)
      refuses(answer, 'UNSUPPORTED_SCHEMA_NAME', 'Collection', '48', name ?? 'null')
    }
    refuses(await create(5), 'REQUEST_STRUCTURE_MISMATCH', 'command.name')
  })

  test('rejects an unknown field of the command', async () => {
    const body = { createCollection: { name: 'x', ifNotExists: true } }
    refuses(await server.command(keyspace, body), 'COMMAND_FIELD_UNKNOWN', 'ifNotExists')
  })

  test('rejects invalid options and creates nothing', async () => {
    for (const [options, code, named] of [
      ['all', 'REQUEST_STRUCTURE_MISMATCH', 'command.options'],
      [{ vectors: {} }, 'INVALID_CREATE_COLLECTION_FIELD', '"vectors"'],
      [{ vector: {} }, 'INVALID_CREATE_COLLECTION_OPTIONS', 'dimension'],
      [{ vector: { dimension: 4097 } }, 'VECTOR_SEARCH_TOO_BIG_VALUE', '4097'],
      [
        { vector: { dimension: 5, metric: 'l2' } },
        'COMMAND_FIELD_VALUE_INVALID',
        'command.options.vector.metric',
      ],
      [
        { vector: { service: { provider: 'x' } } },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        '"x"',
      ],
      [{ indexing: { allow: ['a', 'a'] } }, 'INVALID_INDEXING_DEFINITION', '"a"'],
      [{ lexical: { enabled: true, on: 1 } }, 'COMMAND_FIELD_UNKNOWN', '"on"'],
      [{ rerank: {} }, 'INVALID_CREATE_COLLECTION_OPTIONS', 'enabled'],
    ] as const)
      refuses(await create('refused', options), code, named)
    const answer = await server.command(`${keyspace}/refused`, { countDocuments: {} })
    assert.deepEqual(answer.codes, ['UNKNOWN_COLLECTION_OR_TABLE'])
  })

  test('reports all values that are out of bounds', async () => {
    const answer = await create('bounds', {
      defaultId: { type: 'serial' },
      vector: { dimension: 0 },
    })
    assert.deepEqual(answer.codes, [
      'COMMAND_FIELD_VALUE_INVALID',
      'COMMAND_FIELD_VALUE_INVALID',
    ])
  })

  test('rejects features that are switched off in a header of the request', async () => {
    const lexicalOff = { 'Feature-Flag-lexical': 'false' }
    const rerankingOff = { 'Feature-Flag-reranking': 'false' }
    refuses(
      await create('off', { lexical: { enabled: true } }, lexicalOff),
      'LEXICAL_FEATURE_NOT_ENABLED',
    )
    refuses(
      await create('off', { rerank: { enabled: true } }, rerankingOff),
      'RERANKING_FEATURE_NOT_ENABLED',
    )
    isOk(await create('off', {}, { ...lexicalOff, ...rerankingOff }))
    assert.deepEqual(await explained(server, 'off'), {
      lexical: { enabled: false },
      rerank: { enabled: false },
    })
  })

  test('rejects a keyspace that does not exist', async () => {
    const answer = await server.command('/nowhere', { createCollection: { name: 'c' } })
    refuses(answer, 'UNKNOWN_KEYSPACE', 'nowhere')
  })

  test('creates separate collections of the same name in two keyspaces', async () => {
    await server.command('', { createKeyspace: { name: 'second' } })
    isOk(await create('twice', { vector: { dimension: 3 } }))
    isOk(await server.command('/second', { createCollection: { name: 'twice' } }))
  })

  describe('for an existing collection', () => {
    const rich = {
      defaultId: { type: 'uuidv7' },
      vector: { dimension: 3, metric: 'cosine' },
      indexing: { deny: ['a', 'b.c'] },
      lexical: { enabled: true, analyzer: 'english' },
      rerank: { enabled: false },
    }

    test('returns ok when the settings are the same, in any order', async () => {
      isOk(await create('rich', rich))
      isOk(await create('rich', rich))
      const reordered = Object.fromEntries(Object.entries(rich).toReversed())
      isOk(
        await create('rich', {
          ...reordered,
          vector: { sourceModel: 'other', metric: 'cosine', dimension: 3 },
          indexing: { deny: ['b.c', 'a'] },
        }),
      )
    })

    test('keeps the existing settings when lexical and rerank are omitted', async () => {
      const { defaultId, vector, indexing } = rich
      isOk(await create('rich', rich))
      isOk(await create('rich', { defaultId, vector, indexing }))
      assert.deepEqual(await explained(server, 'rich'), {
        ...rich,
        vector: { ...vector, sourceModel: 'other' },
      })
    })

    test('rejects other settings and names the settings that differ', async () => {
      isOk(await create('rich', rich))
      for (const [change, differing] of [
        [{ defaultId: undefined }, 'defaultId'],
        [{ defaultId: { type: 'uuid' } }, 'defaultId'],
        [{ vector: undefined }, 'vector'],
        [{ vector: { dimension: 4 } }, 'vector'],
        [{ vector: { dimension: 3, metric: 'euclidean' } }, 'vector'],
        [{ indexing: undefined }, 'indexing'],
        [{ indexing: { deny: ['a'] } }, 'indexing'],
        [{ indexing: { allow: ['a', 'b.c'] } }, 'indexing'],
        [{ lexical: { enabled: true } }, 'lexical'],
        [{ lexical: { enabled: false } }, 'lexical'],
        [{ rerank: { enabled: true } }, 'rerank'],
        [{ defaultId: undefined, rerank: { enabled: true } }, 'defaultId, rerank'],
      ] as const)
        refuses(
          await create('rich', { ...rich, ...change }),
          'EXISTING_COLLECTION_DIFFERENT_SETTINGS',
          '"rich"',
          `options: ${differing}.`,
        )
    })

    test('distinguishes an omitted option from an explicit default', async () => {
      isOk(await create('defaults'))
      for (const options of [
        { defaultId: { type: 'uuid' } },
        { indexing: { allow: ['*'] } },
      ])
        refuses(await create('defaults', options), 'EXISTING_COLLECTION_DIFFERENT_SETTINGS')
    })
  })

  test('succeeds for all concurrent requests with the same settings', async () => {
    const options = { vector: { dimension: 2 } }
    const answers = await Promise.all(times(20, () => create('crowded', options)))
    for (const answer of answers) isOk(answer)
  })

  test('succeeds for only one of several concurrent requests with different settings', async () => {
    const answers = await Promise.all(
      times(10, (i) => create('contested', { vector: { dimension: i + 2 } })),
    )
    const winner = answers.findIndex((answer) => answer.codes.length === 0)
    for (const [i, answer] of answers.entries())
      if (i === winner) isOk(answer)
      else refuses(answer, 'EXISTING_COLLECTION_DIFFERENT_SETTINGS', 'vector')
    const { vector } = await explained(server, 'contested')
    assert.equal((vector as { dimension: number }).dimension, winner + 2)
  })
})

describe('createCollection at the limit', () => {
  let server: TestServer
  before(async () => {
    const limits = { ...defaultLimits, collectionsMax: 3 }
    server = await startServer({ durable: false, limits })
  })
  after(() => server.close())

  const create = (name: string, options?: object, path = keyspace) =>
    server.command(path, { createCollection: { name, options } })

  test('counts all keyspaces together and never exceeds the limit', async () => {
    await server.command('', { createKeyspace: { name: 'second' } })
    isOk(await create('first', {}, '/second'))
    const answers = await Promise.all(times(8, (i) => create(`c${i}`)))
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 2)
    const refused = answers.filter((answer) => answer.codes.length > 0)
    for (const answer of refused) refuses(answer, 'TOO_MANY_COLLECTIONS', '3')
  })

  test('compares the settings with an existing collection before it checks the limit', async () => {
    isOk(await create('first', {}, '/second'))
    refuses(
      await create('first', { vector: { dimension: 2 } }, '/second'),
      'EXISTING_COLLECTION_DIFFERENT_SETTINGS',
    )
  })

  test('creates a collection after another one was deleted', async () => {
    refuses(await create('late'), 'TOO_MANY_COLLECTIONS', '"late"', '3')
    await server.command('/second', { deleteCollection: { name: 'first' } })
    isOk(await create('late'))
  })
})

test('collections and their settings survive a restart', async () => {
  const first = await startServer()
  const options = {
    vector: { dimension: 3, metric: 'euclidean', sourceModel: 'bert' },
    indexing: { allow: ['a'] },
    lexical: { enabled: true, analyzer: { tokenizer: { name: 'letter' } } },
  }
  const createCollection = { name: 'kept', options }
  isOk(await first.command(keyspace, { createCollection }))
  isOk(await first.command(keyspace, { createCollection: { name: 'gone' } }))
  isOk(await first.command(keyspace, { deleteCollection: { name: 'gone' } }))
  const explain = { findCollections: { options: { explain: true } } }
  const before = await first.command(keyspace, explain)

  const second = await first.restart()
  try {
    assert.equal((await second.command(keyspace, explain)).text, before.text)
    isOk(await second.command(keyspace, { createCollection }))
    const other = { name: 'kept', options: { ...options, vector: { dimension: 4 } } }
    refuses(
      await second.command(keyspace, { createCollection: other }),
      'EXISTING_COLLECTION_DIFFERENT_SETTINGS',
      'vector',
    )
  } finally {
    await second.close()
  }
})

function isOk(answer: Answer) {
  assert.deepEqual(answer.body, { status: { ok: 1 } })
  assert.equal(answer.http, 200)
}

function refuses(answer: Answer, code: string, ...named: string[]) {
  assert.equal(answer.http, 200)
  assert.deepEqual(answer.codes, [code])
  assert.deepEqual(Object.keys(answer.body), ['errors'])
  const { message } = answer.body.errors![0]!
  for (const part of named) assert.ok(message.includes(part), `${message} names ${part}`)
}

async function explained(
  server: TestServer,
  name: string,
): Promise<Record<string, unknown>> {
  const answer = await server.command(keyspace, {
    findCollections: { options: { explain: true } },
  })
  const collections = answer.body.status?.['collections'] as {
    name: string
    options: Record<string, unknown>
  }[]
  const found = collections.find((collection) => collection.name === name)
  return found?.options ?? assert.fail(`${name} is not listed`)
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
