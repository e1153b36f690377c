/** Resources for assistants, and the prompt that explores them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { shorten } from '../../src/mcp/sample-document.ts'
import { fromPlain, toPlain } from '../../src/json/plain.ts'
import { AdminServer } from '../admin/admin-server.ts'
import { Assistant, post, request, revisions } from './assistant.ts'

const admin = new AdminServer({}, async (server) => {
  const send = (path: string, body: object) => server.command(path, body)
  await send('', { createKeyspace: { name: 'library' } })
  await send('/library', { createCollection: { name: 'books' } })
  const long = { text: 'x'.repeat(1000), list: Array.from({ length: 100 }, (_, i) => i) }
  await send('/library/books', {
    insertMany: { documents: Array.from({ length: 9 }, (_, i) => ({ _id: i, ...long })) },
  })
  const columns = {
    id: 'int',
    name: 'text',
    home: { type: 'userDefined', udtName: 'address' },
  }
  await send('/library', {
    createType: { name: 'address', definition: { fields: { street: 'text' } } },
  })
  await send('/library', {
    createTable: { name: 'people', definition: { columns, primaryKey: 'id' } },
  })
  await send('/library/people', {
    createIndex: { name: 'by_name', definition: { column: 'name' } },
  })
  await send('/library/people', { insertOne: { document: { id: 1, name: 'Ada' } } })
})

interface Shown {
  readonly collections?: readonly { name: string; options: object }[]
  readonly tables?: readonly { name: string }[]
  readonly types?: readonly unknown[]
  readonly collection?: { name: string }
  readonly table?: { name: string; definition: { columns: object } }
  readonly indexes?: readonly { name: string }[]
  readonly samples?: readonly Record<string, unknown>[]
}

for (const revision of revisions)
  describe(`resources, in revision ${revision}`, () => {
    let assistant: Assistant
    before(async () => {
      assistant = await Assistant.of(admin.server, revision)
    })
    after(() => assistant.close())

    test('are keyspaces, collections and tables', async () => {
      const { resources } = await assistant.client.listResources()
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        [
          'stela://keyspaces',
          'stela://keyspaces/default_keyspace',
          'stela://keyspaces/library',
          'stela://keyspaces/library/books',
          'stela://keyspaces/library/people',
        ],
      )
      for (const { uri } of resources) assert(await assistant.read(uri))
      const { resourceTemplates } = await assistant.client.listResourceTemplates()
      assert.deepEqual(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ['stela://keyspaces/{keyspace}', 'stela://keyspaces/{keyspace}/{name}'],
      )
    })

    test('contain names, definitions and counts', async () => {
      assert.deepEqual(await assistant.read('stela://keyspaces'), {
        keyspaces: ['default_keyspace', 'library'],
      })
      const keyspace = (await assistant.read('stela://keyspaces/library')) as Shown
      assert.equal(keyspace.collections![0]!.name, 'books')
      assert('lexical' in keyspace.collections![0]!.options)
      assert.equal(keyspace.tables![0]!.name, 'people')
      assert.equal(keyspace.types!.length, 1)
      const books = (await assistant.read('stela://keyspaces/library/books')) as Shown
      assert.equal(books.collection!.name, 'books')
      assert.equal(books.samples!.length, 3)
      const [sample] = books.samples!
      assert.equal((sample!['text'] as string).length, 301)
      assert.deepEqual(sample!['list'], [0, 1, 2, 3, 4, '… and 95 more'])
      const people = (await assistant.read('stela://keyspaces/library/people')) as Shown
      assert.deepEqual(Object.keys(people.table!.definition.columns), [
        'id',
        'home',
        'name',
      ])
      assert.equal(people.indexes![0]!.name, 'by_name')
      assert.deepEqual(people.samples, [{ id: 1, name: 'Ada' }])
    })

    test('are reported as not found when they do not exist', async () => {
      for (const uri of [
        'stela://keyspaces/none',
        'stela://keyspaces/library/none',
        'stela://keyspaces/library/books/1',
        'stela://keyspaces//books',
        'stela://keyspaces/%zz',
        'file:///etc/passwd',
        '',
      ])
        await assert.rejects(assistant.read(uri), (error: Error & { code?: number }) => {
          assert.match(error.message, /the resource does not exist/i, uri)
          return true
        })
    })

    test('are accompanied by a prompt to explore them', async () => {
      const { prompts } = await assistant.client.listPrompts()
      assert.deepEqual(
        prompts.map(({ name, title }) => [name, title]),
        [['explore-database', 'Explore this database']],
      )
      const textOf = async (given: Record<string, string>) => {
        const prompt = { name: 'explore-database', arguments: given }
        const { messages } = await assistant.client.getPrompt(prompt)
        assert.equal(messages.length, 1)
        return (messages[0]!.content as { text: string }).text
      }
      assert.match(await textOf({}), /findKeyspaces/)
      assert.match(await textOf({ keyspace: 'library' }), /keyspace "library"/)
      await assert.rejects(
        assistant.client.getPrompt({ name: 'other' }),
        /The only prompt is/,
      )
    })
  })

describe('resources', () => {
  test('that do not exist return the error code of the revision', async () => {
    const uri = 'stela://keyspaces/none'
    const { http, body } = await post(admin.server, request('resources/read', { uri }))
    assert.deepEqual([http, body.error!.code], [200, -32002])
  })

  test('include only targets that the token may read', async () => {
    const describes = ['db-keyspace-describe', 'db-table-describe']
    const { token } = await admin.tokenFor(
      [':db:*:keyspace:library:table:books'],
      describes,
    )
    const assistant = await Assistant.of(admin.server, '2026-07-28', { Token: token })
    assert.deepEqual(await assistant.read('stela://keyspaces'), { keyspaces: ['library'] })
    const { resources } = await assistant.client.listResources()
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      ['stela://keyspaces', 'stela://keyspaces/library', 'stela://keyspaces/library/books'],
    )
    const books = (await assistant.read('stela://keyspaces/library/books')) as Shown
    assert.equal(books.collection!.name, 'books')
    assert.equal(books.samples, undefined, 'describing is not reading')
    for (const hidden of ['default_keyspace', 'library/people'])
      await assert.rejects(
        assistant.read(`stela://keyspaces/${hidden}`),
        /The resource does not exist/,
      )
    await assistant.close()
  })

  test('are listed in pages', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `many_${String(i).padStart(2, '0')}`)
    for (const name of names) await admin.server.command('', { createKeyspace: { name } })
    const uris: unknown[] = []
    let cursor: unknown
    let pages = 0
    do {
      const params = cursor === undefined ? {} : { cursor }
      const { body } = await post(admin.server, request('resources/list', params))
      uris.push(...(body.result!['resources'] as { uri: string }[]).map(({ uri }) => uri))
      cursor = body.result!['nextCursor']
      pages++
    } while (cursor !== undefined)
    assert.equal(pages, 3)
    assert.equal(uris.length, new Set(uris).size)
    assert.equal(uris.length, 65)
    for (const bad of ['x', 5, 'YWZ0ZQ'])
      assert.equal(
        (await post(admin.server, request('resources/list', { cursor: bad }))).body.error!
          .code,
        -32602,
      )
  })

  test('shorten large documents', () => {
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i]))
    const shown = toPlain(shorten(fromPlain(wide))) as Record<string, unknown>
    assert.equal(Object.keys(shown).length, 200)
    assert.equal(shown['…'], 'and 801 more')
    const deep = { a: [{ b: 'y'.repeat(301) }, 1, 2, 3, 4, 5] }
    assert.deepEqual(toPlain(shorten(fromPlain(deep))), {
      a: [{ b: `${'y'.repeat(300)}…` }, 1, 2, 3, 4, '… and 1 more'],
    })
    assert.deepEqual(toPlain(shorten(fromPlain({ a: null, b: true }))), {
      a: null,
      b: true,
    })
  })
})
