/**
 * Opens data folders, backups and exports of earlier versions with this version. All requests of
 * story.ts must get the recorded replies. After further changes, the replies must equal those of a
 * data folder that this version wrote.
 */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { runStela } from '../cli/run-stela.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { shown, StoryClient, type Access, type Told } from './client.ts'
import {
  exported,
  readAnswers,
  storyToken,
  unpack,
  versions,
  type Version,
} from './fixture.ts'
import { changes, generated, lateWrites, questions, writes, type Request } from './story.ts'

/**
 * Converts a recorded reply to the current format: collections show the current default reranker,
 * and names in CQL are quoted only if necessary.
 */
function asToldToday(told: Told): Told {
  const [before, now] = [
    '"provider":"nvidia","modelName":"nvidia/llama-3.2-nv-rerankqa-1b-v2"',
    '"provider":"local","modelName":"all-MiniLM-L6-v2-late-interaction"',
  ]
  const text = JSON.stringify(told)
    .replaceAll(before, now)
    .replace(/"cqlDefinition":"(?:[^"\\]|\\.)*"/g, (definition) =>
      definition.replace(/\\"([a-z][a-z0-9_]*)\\"\./g, '$1.'),
    )
  return JSON.parse(text) as Told
}

/** Starts a server. Searches by terms require all terms, because earlier versions did. */
function serve(dataDir: string): Promise<TestServer> {
  const lexicalOperator = 'all'
  return startServer({ dataDir, adminPort: 0, adminToken: storyToken, lexicalOperator })
}

async function assertSound(dataDir: string): Promise<void> {
  const { code, out, err } = await runStela(['check', '--data', dataDir])
  assert.deepEqual([code, err], [0, ''], `${String(out)}${err}`)
}

/** Sends all requests. After all of them, fails if any reply differs from the expected one. */
async function assertSame(
  expected: readonly (readonly [Request, Told])[],
  client: StoryClient,
): Promise<void> {
  const differing = []
  for (const [request, answer] of expected) {
    const told = await client.ask(request)
    if (!isDeepStrictEqual(told, answer)) differing.push([shown(request), told, answer])
  }
  assert.deepEqual(
    differing.map(([request, told]) => [request, told]),
    differing.map(([request, , answer]) => [request, answer]),
  )
}

/** A quarter of the items. Consecutive calls return different quarters. */
function some<T>(all: readonly T[]): readonly T[] {
  const first = sampled++ % 4
  return all.filter((_, position) => position % 4 === first)
}

let sampled = 0

async function answersOf(
  client: StoryClient,
  asked: readonly Request[],
): Promise<[Request, Told][]> {
  const told: [Request, Told][] = []
  for (const request of asked) told.push([request, await client.ask(request)])
  return told
}

for (const version of versions) testVersion(version)

function testVersion(version: Version): void {
  let folder: string
  let access: Access
  let answers: readonly (readonly [Request, Told])[]

  before(async () => {
    folder = await temporaryFolder()
    unpack(version, folder)
    const written = readAnswers(folder)
    access = written.access
    answers = written.answers.map(([request, told]) => [request, asToldToday(told)])
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** A copy of a part of the fixture, which the test may change. */
  async function copyOf(part: string, name: string): Promise<string> {
    await cp(join(folder, part), join(folder, name), { recursive: true })
    return join(folder, name)
  }

  describe(`a data folder of version ${version}`, () => {
    let dataDir: string
    let server: TestServer
    let client: StoryClient

    const start = async () => {
      server = await serve(dataDir)
      client = new StoryClient(server, storyToken, access.databaseIds)
    }
    before(async () => {
      dataDir = await copyOf('data', 'served')
    })
    after(() => server.stop())

    test('has recorded replies to exactly the requests of story.ts (if not, run write-folder.ts)', () => {
      assert.deepEqual(
        answers.map(([request]) => shown(request)),
        questions.map(shown),
      )
    })

    test('passes stela check before it is opened', () => assertSound(dataDir))

    test('gives the recorded replies, before and after a restart', async () => {
      await start()
      await assertSame(some(answers), client)
      await server.stop()
      await assertSound(dataDir)
      // The first start may have converted the folder, so the second start must open the result.
      await start()
      await assertSame(answers, client)
    })

    test('has the databases, roles and tokens that the earlier version created', async () => {
      const listed = (await client.manage('GET', '/databases')) as { id: string }[]
      assert.deepEqual(
        listed.slice(1).map(({ id }) => id),
        Object.values(access.databaseIds),
      )
      const { reader, narrow, revoked } = access.tokens
      const bare: Request = ['/default_keyspace/bare', { find: {} }]
      const dot: Request = ['/default_keyspace/dot', { find: {} }]
      const write: Request = [
        '/default_keyspace/bare',
        { deleteMany: { filter: { a: 9 } } },
      ]
      const refused = ['UNAUTHORIZED_ACCESS']
      assert.equal(((await client.ask(bare, reader)).data as unknown[]).length, 3)
      assert.equal(((await client.ask(dot, reader)).data as unknown[]).length, 4)
      assert.deepEqual((await client.ask(write, reader)).codes, refused)
      assert.equal(((await client.ask(bare, narrow)).data as unknown[]).length, 3)
      assert.deepEqual((await client.ask(dot, narrow)).codes, refused)
      assert.notEqual((await client.ask(bare, revoked)).codes, undefined)
    })

    test('prints floating-point numbers with a fraction', async () => {
      const headers = { Token: storyToken }
      const { text } = await server.command(
        '/default_keyspace/every',
        { find: { filter: { id: 1 } } },
        headers,
      )
      assert(text.includes('"c_float":3.0,'), text)
      assert(text.includes('"l_double":[1.0,'), text)
      assert(text.includes('"p":{"x":9.0}'), text)
      const wide = await server.command(
        '/default_keyspace/wide',
        { find: { filter: { a: 'odd', b: 1 } } },
        headers,
      )
      assert.match(wide.text, /"c":2\.0,"d":\d\.\d,"e":"[^"]*","v":\d+\.0/)
    })

    test('accepts the same changes as a data folder of this version', async () => {
      const today = await serve(join(folder, 'today'))
      try {
        const peer = new StoryClient(today, storyToken)
        await peer.createAccess()
        await peer.write(writes)
        await peer.write(lateWrites)
        const asked = questions.filter(
          ([path]) => !generated.some((name) => path.endsWith(`/${name}`)),
        )
        await assertSame(await answersOf(peer, changes), client)
        await assertSame(await answersOf(peer, some(asked)), client)
        await server.stop()
        await assertSound(dataDir)
        await start()
        await assertSame(await answersOf(peer, asked), client)
      } finally {
        await today.stop()
      }
    })

    test("continues to generate ids of each collection's type", async () => {
      for (const name of generated) {
        const path = `/default_keyspace/${name}`
        const { status } = await client.ask([path, { insertOne: { document: {} } }])
        const { insertedIds } = status as { insertedIds: unknown[] }
        const kind = name === 'ids_objectid' ? '$objectId' : '$uuid'
        assert.deepEqual(Object.keys(insertedIds[0] as object), [kind], name)
      }
    })

    test('accepts new databases in addition to those of the earlier version', async () => {
      const made = (await client.manage('POST', '/databases', {
        name: 'fourth',
        dbType: 'vector',
      })) as { id: string }
      const ids = { ...access.databaseIds, fourth: made.id }
      const all = new StoryClient(server, storyToken, ids)
      await all.write([
        ['fourth:/default_keyspace', { createCollection: { name: 'notes' } }],
      ])
      const { data } = await all.ask(['fourth:/default_keyspace/notes', { find: {} }])
      assert.deepEqual(data, [])
      await client.manage('POST', `/databases/${access.databaseIds['third']!}/terminate`)
      const gone = await all.ask(['third:/default_keyspace/notes', { find: {} }])
      assert.equal(gone.data, undefined)
      const { data: left } = await all.ask([
        'second:/default_keyspace/points',
        { find: {} },
      ])
      assert.equal((left as unknown[]).length, 1)
    })
  })

  describe(`a backup of version ${version}`, () => {
    /**
     * Restores a backup, and checks a quarter of the replies. That suffices, because the test of
     * the data folder checks all replies, and a backup has the same stores.
     */
    async function restore(from: string, dataDir: string): Promise<void> {
      const { code, err } = await runStela(['restore', from, '--data', dataDir])
      assert.equal(code, 0, err)
      await assertSound(dataDir)
      const server = await serve(dataDir)
      try {
        const client = new StoryClient(server, storyToken, access.databaseIds)
        await assertSame(some(answers), client)
      } finally {
        await server.stop()
      }
    }

    test('is restored with all data', () =>
      restore(join(folder, 'backup'), join(folder, 'restored')))

    test('can be extended by another backup in the same folder', async () => {
      const backups = await copyOf('backup', 'backups')
      const server = await serve(await copyOf('data', 'backed-up'))
      const words = ['backup', backups, '--admin-url', server.adminUrl]
      const { code, err } = await runStela(words, { token: storyToken })
      await server.stop()
      assert.equal(code, 0, err)
      await restore(backups, join(folder, 'restored-again'))
    })
  })

  test(`exports of version ${version} are imported and exported without changes`, async () => {
    const server = await serve(await copyOf('data', 'exported'))
    try {
      const client = new StoryClient(server, storyToken)
      const explain = { options: { explain: true } }
      const described = async (command: object, kind: string, name: string) => {
        const { status } = await client.ask(['/default_keyspace', command])
        const all = (status as Record<string, { name: string }[]>)[kind]!
        return all.find((one) => one.name === name)!
      }
      for (const [kind, name] of exported) {
        const to = `${name}_again`
        const create =
          kind === 'table'
            ? { createTable: await described({ listTables: explain }, 'tables', name) }
            : {
                createCollection: await described(
                  { findCollections: explain },
                  'collections',
                  name,
                ),
              }
        const [command, fields] = Object.entries(create)[0]!
        const again = JSON.stringify(
          { [command]: { ...fields, name: to } },
          (member, value) => (member === 'apiSupport' ? undefined : (value as unknown)),
        )
        await client.write([['/default_keyspace', again]])
        const file = join(folder, 'exports', `${name}.jsonl`)
        const at = ['--url', server.url]
        const words = ['import', file, `--${kind}`, to, ...at]
        const { code, err } = await runStela(words, { token: storyToken })
        assert.equal(code, 0, err)
        const find = (which: string): Request => [
          `/default_keyspace/${which}`,
          { find: kind === 'table' ? {} : { projection: { '*': 1 }, sort: { _id: 1 } } },
        ]
        assert.deepEqual(
          (await client.ask(find(to))).data,
          (await client.ask(find(name))).data,
        )
        const written = await runStela(['export', `--${kind}`, to, ...at], {
          token: storyToken,
        })
        assert.equal(written.code, 0, written.err)
        const lines = (text: string) =>
          text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as unknown)
        const sorted = (text: string) =>
          lines(text)
            .map((line) => JSON.stringify(line))
            .toSorted()
        assert.deepEqual(sorted(String(written.out)), sorted(readFileSync(file, 'utf8')))
      }
    } finally {
      await server.stop()
    }
  })
}
