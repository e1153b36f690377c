/** Every command is a tool. Tests use the official client with both revisions of MCP. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { commandsAt, deprecated } from '../../src/commands/dispatch/registry.ts'
import { wordsOfCommands } from '../../src/http/openapi/command-words.ts'
import { argumentsFor } from '../../src/mcp/tool-descriptions.ts'
import { toolNotes } from '../../src/mcp/tool-notes.ts'
import { levels, tools } from '../../src/mcp/tools.ts'
import { AdminServer } from '../admin/admin-server.ts'
import { LetterModels } from '../commands/letter-models.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { Assistant, revisions, type Revision } from './assistant.ts'

/** The names of tools, by the arguments that form the path of their target. */
const located: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['createKeyspace', 'dropKeyspace', 'findKeyspaces'],
    ...['findEmbeddingProviders', 'findRerankingProviders'],
  ],
  keyspace: [
    ...['createCollection', 'deleteCollection', 'findCollections', 'createTable'],
    ...['dropTable', 'listTables', 'createType', 'alterType', 'dropType', 'listTypes'],
    'dropIndex',
  ],
  'keyspace collection': [
    ...['countDocuments', 'deleteMany', 'deleteOne', 'estimatedDocumentCount', 'find'],
    ...['findOne', 'findAndRerank', 'findOneAndDelete', 'findOneAndReplace'],
    ...['findOneAndUpdate', 'insertOne', 'insertMany', 'updateOne', 'updateMany'],
  ],
  'keyspace table': [
    ...['alterTable', 'createIndex', 'createTextIndex', 'createVectorIndex'],
    'listIndexes',
  ],
}

const named: Readonly<Record<string, readonly string[]>> = {
  name: [
    ...['createKeyspace', 'dropKeyspace', 'createType', 'alterType', 'dropType'],
    'dropIndex',
  ],
  collection: ['createCollection', 'deleteCollection'],
  table: ['createTable', 'dropTable'],
  indexName: ['createIndex', 'createTextIndex', 'createVectorIndex'],
}

describe('tools', () => {
  test('are the commands of the registry, without deprecated names', () => {
    const commands = levels.flatMap((level) => [...commandsAt[level].keys()])
    const expected = new Set(commands.filter((name) => !deprecated.has(name)))
    assert.deepEqual([...tools.keys()].toSorted(), [...expected].toSorted())
    assert.equal(tools.size, 35)
  })

  test('take the path and the name of their target from the expected arguments', () => {
    for (const [path, names] of Object.entries(located))
      for (const name of names) assert.equal(tools.get(name)!.path.join(' '), path, name)
    assert.equal(Object.values(located).flat().length, tools.size)
    for (const { name, nameArgument } of tools.values()) {
      const [argument] = Object.entries(named).find(([, list]) => list.includes(name)) ?? []
      assert.equal(nameArgument, argument, name)
    }
  })

  test('include every name in the tool notes, and each note is one line that ends with a period', () => {
    for (const [name, note] of Object.entries(toolNotes)) {
      assert(tools.has(name), name)
      assert.match(note, /^[A-Z][^\n]*\.$/, name)
    }
  })
})

/** Tools that add data but never change existing data. */
const additions = [
  ...['createKeyspace', 'createCollection', 'createTable', 'createType'],
  ...['createIndex', 'createTextIndex', 'createVectorIndex'],
]

describe('with the official client', () => {
  let models: LetterModels
  let server: TestServer
  before(async () => {
    models = await LetterModels.start()
    server = await startServer({ providers: models.settings })
  })
  after(async () => {
    await server.close()
    await models.close()
  })

  for (const revision of revisions)
    describe(`in revision ${revision}`, () => inRevision(revision))

  function inRevision(revision: Revision): void {
    let assistant: Assistant
    before(async () => {
      assistant = await Assistant.of(server, revision)
      await assistant.call('dropKeyspace', { name: 'sample' })
    })
    after(() => assistant.close())

    test('the revision is negotiated', () => {
      assert.equal(assistant.client.getNegotiatedProtocolVersion(), revision)
      assert.equal(assistant.client.getServerVersion()?.name, 'stela')
      assert.match(assistant.client.getInstructions()!, /findKeyspaces/)
    })

    test('every tool is listed with a description for a model', async () => {
      const { tools: listed } = await assistant.client.listTools()
      assert.deepEqual(
        listed.map(({ name }) => name),
        [...tools.keys()],
      )
      for (const { name, description, inputSchema, annotations } of listed) {
        const { command, path } = tools.get(name)!
        assert(description!.length >= 30, name)
        assert.equal(inputSchema.type, 'object')
        const { properties = {}, required = [] } = inputSchema as {
          properties?: Record<string, { description?: string }>
          required?: string[]
        }
        for (const argument of path) assert(required.includes(argument), name)
        for (const [argument, schema] of Object.entries(properties))
          assert(schema.description, `${name} says nothing of ${argument}`)
        assert(!JSON.stringify(inputSchema).includes('$ref'), name)
        assert((inputSchema['examples'] as unknown[]).length > 0, name)
        const reads = command.does === 'read' || command.does === 'describe'
        assert.equal(annotations!.readOnlyHint, reads, name)
        if (!reads)
          assert.equal(annotations!.destructiveHint, !additions.includes(name), name)
      }
    })

    test('every tool executes the examples of its command', async () => {
      const called = new Set<string>()
      for (const level of levels)
        for (const [name, { examples }] of Object.entries(wordsOfCommands[level])) {
          const tool = tools.get(name)
          if (tool?.command.level !== level) continue
          for (const example of examples) {
            const given = argumentsFor(tool, example)
            const answer = await assistant.call(name, given)
            assert.equal(answer.isError, false, `${name}: ${JSON.stringify(answer)}`)
            assert(answer.structuredContent ?? answer._meta?.status, name)
            const said = answer.content.map(({ text }) => JSON.parse(text) as unknown)
            const { structuredContent, _meta } = answer
            const expected = [
              ...(structuredContent === undefined ? [] : [structuredContent]),
              ...(_meta?.status === undefined ? [] : [{ status: _meta.status }]),
            ]
            assert.deepEqual(said, expected, name)
            called.add(name)
          }
        }
      assert.deepEqual([...called].toSorted(), [...tools.keys()].toSorted())
    })

    test('data and status equal those of the command', async () => {
      const place = { keyspace: 'sample', collection: 'counted' }
      await assistant.call('createCollection', place)
      const documents = [
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2, text: '"\\\n\u2028é😀' },
      ]
      const inserted = await assistant.call('insertMany', { ...place, documents })
      assert.deepEqual(inserted._meta?.status?.['insertedIds'], ['a', 'b'])
      assert.equal(inserted.structuredContent, undefined)
      const given = { ...place, sort: { n: -1 }, options: { limit: 1 } }
      const found = await assistant.call('find', given)
      assert.deepEqual(found.structuredContent, {
        documents: [documents[1]],
        nextPageState: null,
      })
      assert.deepEqual(JSON.parse(found.content[0]!.text), found.structuredContent)
      const none = await assistant.call('findOne', { ...place, filter: { _id: 'c' } })
      assert.deepEqual(none.structuredContent, { document: null })
      const counted = await assistant.call('countDocuments', place)
      assert.deepEqual(counted._meta?.status, { count: 2 })
    })

    test('a long reply is complete in the text and in the structured content', async () => {
      const place = { keyspace: 'sample', collection: 'long' }
      await assistant.call('createCollection', {
        ...place,
        options: { indexing: { deny: ['*'] }, lexical: { enabled: false } },
      })
      const text = '"é\\'.repeat(100_000)
      const documents = Array.from({ length: 5 }, (_, i) => ({ _id: i, text }))
      await assistant.call('insertMany', { ...place, documents })
      const found = await assistant.call('find', place)
      const byId = found.structuredContent!.documents!.toSorted(
        (a, b) => Number(a['_id']) - Number(b['_id']),
      )
      assert.deepEqual(byId, documents)
      assert.deepEqual(JSON.parse(found.content[0]!.text), found.structuredContent)
    })

    test('an error of a command is a result that is marked as an error', async () => {
      const refused = await assistant.call('find', { keyspace: 'none', collection: 'x' })
      assert.equal(refused.isError, true)
      assert.equal(refused.structuredContent!.errors![0]!.errorCode, 'UNKNOWN_KEYSPACE')
      assert.deepEqual(JSON.parse(refused.content[0]!.text), refused.structuredContent)
      for (const [name, given, code] of [
        ['find', { keyspace: 'sample' }, 'COMMAND_FIELD_VALUE_INVALID'],
        ['find', { keyspace: 5, collection: 'x' }, 'COMMAND_FIELD_VALUE_INVALID'],
        ['listTables', { keyspace: '' }, 'COMMAND_FIELD_VALUE_INVALID'],
        ['createCollection', { keyspace: 'sample' }, 'COMMAND_FIELD_VALUE_INVALID'],
        [
          'createCollection',
          { keyspace: 'sample', collection: 'a', name: 'b' },
          'COMMAND_FIELD_UNKNOWN',
        ],
        ['findKeyspaces', { keyspace: 'sample' }, 'COMMAND_FIELD_UNKNOWN'],
        [
          'find',
          { keyspace: 'sample', collection: 'books', filter: { a: { $near: 1 } } },
          'FILTER_UNSUPPORTED_OPERATOR',
        ],
      ] as const)
        assert.deepEqual(await assistant.codes(name, given), [code], name)
    })

    test('every result states whether it is an error, and has metadata', async () => {
      const place = { keyspace: 'default_keyspace', collection: 'whole' }
      await assistant.call('createCollection', place)
      const found = await assistant.call('find', place)
      assert.equal(found.isError, false)
      assert.notEqual(found._meta, undefined)
      assert.equal(found._meta!.status, undefined)
    })

    test('commands are not tools under their deprecated names', async () => {
      await assert.rejects(assistant.call('findNamespaces'), /There is no tool/)
    })

    test('a request can disable MCP for itself by a header', async () => {
      const headers = { Token: testToken, 'Feature-Flag-mcp': 'false' }
      const other = await Assistant.of(server, revision, headers)
      assert.equal((await other.client.listTools()).tools.length, tools.size)
      const { structuredContent } = await other.call('findKeyspaces')
      const [error] = structuredContent!.errors!
      assert.equal(error!.errorCode, 'MCP_FEATURE_NOT_ENABLED')
      assert.deepEqual([error!.family, error!.scope], ['REQUEST', 'SCHEMA'])
      await assert.rejects(other.client.listResources(), /is disabled/)
      await assert.rejects(other.read('stela://keyspaces'), /is disabled/)
      await other.close()
    })

    test('a bearer token is accepted', async () => {
      const headers = { Authorization: `Bearer ${testToken}` }
      const other = await Assistant.of(server, revision, headers)
      assert.deepEqual(await other.codes('findKeyspaces'), [])
      await other.close()
    })

    test('a wrong token is rejected', async () => {
      await assert.rejects(Assistant.of(server, revision, { Token: 'wrong' }))
    })
  }
})

describe('settings', () => {
  test('--mcp off cannot be overridden by a request', async () => {
    const server = await startServer({ mcp: { enabled: false, text: true } })
    const headers = { Token: testToken, 'Feature-Flag-mcp': 'true' }
    const assistant = await Assistant.of(server, '2026-07-28', headers)
    assert.deepEqual(await assistant.codes('findKeyspaces'), ['MCP_FEATURE_NOT_ENABLED'])
    await assistant.close()
    await server.close()
  })

  test('--mcp on cannot be overridden by a request, and --mcp-text off leaves the content empty', async () => {
    const server = await startServer({ mcp: { enabled: true, text: false } })
    const headers = { Token: testToken, 'Feature-Flag-mcp': 'false' }
    const assistant = await Assistant.of(server, '2025-11-25', headers)
    const found = await assistant.call('findKeyspaces')
    assert.deepEqual(found.content, [])
    assert.deepEqual(found._meta?.status, { keyspaces: ['default_keyspace'] })
    const failed = await assistant.call('listTables', { keyspace: 'none' })
    assert.deepEqual(failed.content, [])
    assert.equal(failed.structuredContent!.errors![0]!.errorCode, 'UNKNOWN_KEYSPACE')
    await assistant.close()
    await server.close()
  })
})

describe('rules for commands', () => {
  const admin = new AdminServer({ rateLimit: 1000 })

  test('apply to tools: roles', async () => {
    const { server } = admin
    const place = { keyspace: 'default_keyspace', collection: 'books' }
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    await server.command('/default_keyspace/books', {
      insertOne: { document: { _id: 'secret' } },
    })
    const reader = await admin.tokenOf('RO User')
    const assistant = await Assistant.of(server, '2026-07-28', { Token: reader.token })
    assert.deepEqual(await assistant.codes('find', place), [])
    for (const [name, given] of [
      ['insertOne', { ...place, document: {} }],
      ['deleteMany', place],
      ['deleteCollection', place],
      ['createKeyspace', { name: 'mine' }],
    ] as const)
      assert.deepEqual(await assistant.codes(name, given), ['UNAUTHORIZED_ACCESS'], name)
    const { tools: listed } = await assistant.client.listTools()
    assert.deepEqual(
      listed.map(({ name }) => name),
      [...tools.values()]
        .filter(({ command }) => command.does === 'read' || command.does === 'describe')
        .map(({ name }) => name),
    )
    await assistant.close()
    const viewer = await admin.tokenOf('UI View Only')
    const other = await Assistant.of(server, '2026-07-28', { Token: viewer.token })
    assert.deepEqual(await other.codes('find', place), ['UNAUTHORIZED_ACCESS'])
    await other.close()
  })

  test('apply to tools: metrics', async () => {
    const count = async () => {
      const { text } = await admin.server.send('/metrics', {})
      const counted = /stela_commands_total\{command="listTypes",outcome="ok"\} (\d+)/
      return Number(counted.exec(text)?.[1] ?? 0)
    }
    const before = await count()
    const assistant = await Assistant.of(admin.server, '2025-11-25')
    await assistant.call('listTypes', { keyspace: 'default_keyspace' })
    assert.equal(await count(), before + 1)
    await assistant.close()
  })

  test('apply to tools: traces', async () => {
    const headers = { Token: testToken, 'Feature-Flag-request-tracing': 'true' }
    const assistant = await Assistant.of(admin.server, '2026-07-28', headers)
    const { _meta } = await assistant.call('findKeyspaces')
    const trace = _meta!.status!['trace'] as { events: { message: string }[] }
    assert(
      trace.events.some(({ message }) => message === 'Received the command findKeyspaces'),
    )
    await assistant.close()
  })
})
