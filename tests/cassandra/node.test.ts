import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'cassandra-driver'
import { clientOf, tryLogin, type ConnectOptions } from './connect.ts'
import { CassandraNode, firstUser, install, startNode } from './node.ts'
import { smallHeap } from './node-config.ts'
import { findPort } from './ports.ts'
import { testNode } from './test-node.ts'

async function withClient<T>(
  connect: ConnectOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = clientOf(connect)
  try {
    return await use(client)
  } finally {
    await client.shutdown()
  }
}

describe('a Cassandra node', () => {
  let node: CassandraNode
  before(async () => {
    node = await startNode({ durable: true })
  })
  after(() => node.remove())

  test('keeps its data when it is killed, and starts again with the cached jars', async () => {
    const folder = dirname((await install()).jars[0]!)
    const { ino } = await stat(folder)
    await withClient(node.connect, async (client) => {
      await client.execute(
        `CREATE KEYSPACE library WITH replication =
           {'class': 'SimpleStrategy', 'replication_factor': 1}`,
      )
      await client.execute('CREATE TABLE library.books (id int PRIMARY KEY, title text)')
      await client.execute("INSERT INTO library.books (id, title) VALUES (1, 'Solaris')")
    })
    await node.kill()
    assert(!node.isRunning)
    assert(!(await tryLogin(node.connect)))
    await node.start()
    const { rows } = await withClient(node.connect, (client) =>
      client.execute('SELECT title FROM library.books'),
    )
    assert.deepEqual(
      rows.map((row) => row.get('title') as string),
      ['Solaris'],
    )
    assert.equal((await stat(folder)).ino, ino)
  })

  test('ends when the process that started the node ends, and its folder is removed', async () => {
    const port = await findPort(['127.0.0.1'])
    const main = new URL('main.ts', import.meta.url).pathname
    const flags = ['--disable-warning=ExperimentalWarning', main, '--port', String(port)]
    const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    const ended = once(child, 'exit')
    while (!out.includes('STELA_TEST_CASSANDRA'))
      await Promise.race([once(child.stdout, 'data'), ended.then(() => assert.fail(out))])
    assert.match(out, new RegExp(`^cassandra ready 127\\.0\\.0\\.1 port ${port}\n`))
    const folder = /data and log (\S+)/.exec(out)![1]!
    const connect = { ...node.connect, port }
    assert(existsSync(folder))
    assert(await tryLogin(connect))

    child.kill('SIGKILL')
    await ended
    while (existsSync(folder)) await sleep(100)
    assert(!(await tryLogin(connect)))
    // Another node on the same machine is not affected.
    assert(await tryLogin(node.connect))
  })

  test('reports the end of its log when it dies during its start', async () => {
    const address = 'nowhere.invalid'
    const ring = {
      addresses: [address],
      port: 1,
      storagePort: 2,
      durable: false,
      heapMegabytes: smallHeap,
    }
    const hopeless = await CassandraNode.create(await install(), ring, address)
    await assert.rejects(hopeless.start(), /died[^]*nowhere\.invalid/)
    const { folder } = hopeless
    await hopeless.remove()
    assert(!existsSync(folder))
  })
})

test('the node that tests share answers and supports vectors', async () => {
  const connect = await testNode()
  assert.equal(connect.user, firstUser.user)
  const { rows } = await withClient(connect, (client) =>
    client.execute(
      'SELECT similarity_cosine([1, 0], [0, 1]) AS score, release_version FROM system.local',
    ),
  )
  assert.equal(rows[0]!.get('score'), 0.5)
  assert.match(rows[0]!.get('release_version') as string, /^5\.0\./)
})
