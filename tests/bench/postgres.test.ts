/** The client and the search for PostgreSQL of the benchmark (bench/postgres/), without a server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PostgresClient } from '../../bench/postgres/client.ts'
import { CustomerPicks, withId } from '../../bench/postgres/documents.ts'
import {
  executeMessage,
  readReply,
  rowCountOf,
  rowsIn,
  startupMessage,
} from '../../bench/postgres/messages.ts'
import { findPostgres } from '../../bench/postgres/server.ts'

/** A message of the server: a letter, the length and the content. */
function message(letter: string, content = ''): Buffer {
  const bytes = Buffer.from(`${letter}\0\0\0\0${content}`)
  bytes.writeInt32BE(bytes.length - 1, 1)
  return bytes
}

function row(...values: readonly string[]): Buffer {
  const columns = values.map(
    (value) => `\0\0\0${String.fromCharCode(value.length)}${value}`,
  )
  return message('D', `\0${String.fromCharCode(values.length)}${columns.join('')}`)
}

const ready = message('Z', 'I')
const twoRows = Buffer.concat([
  message('2'),
  row('doc-1', '{"age":7}'),
  row('doc-2', ''),
  message('C', 'SELECT 2\0'),
  ready,
])

test('messages of the client have the bytes that the protocol defines', () => {
  assert.equal(
    startupMessage('ada', 'db').toString('latin1'),
    '\0\0\0\x1e\0\x03\0\0user\0ada\0database\0db\0\0',
  )
  assert.equal(
    executeMessage('by', ['é', '']).toString('latin1'),
    'B\0\0\0\x18\0by\0\0\0\0\x02\0\0\0\x02Ã©\0\0\0\0\0\0' +
      'E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04',
  )
})

test('a reply is complete only with its last byte', () => {
  for (let size = 0; size < twoRows.length; size++)
    assert.equal(readReply(twoRows.subarray(0, size)), undefined, `${size} bytes`)
  const { bytes, error } = readReply(twoRows)!
  assert.equal(error, undefined)
  assert.deepEqual(rowsIn(bytes), [
    ['doc-1', '{"age":7}'],
    ['doc-2', ''],
  ])
  assert.equal(rowCountOf(bytes), 2)
  assert.equal(rowCountOf(Buffer.concat([message('C', 'INSERT 0 100\0'), ready])), 100)
})

test('an error ends with the reply, and a fatal error ends it at once', () => {
  const error = message('E', 'SERROR\0VERROR\0C42703\0Mno such column\0\0')
  assert.equal(readReply(error), undefined)
  assert.equal(readReply(Buffer.concat([error, ready]))?.error, '42703 no such column')
  const fatal = message('E', 'SFATAL\0VFATAL\0C57P03\0Mstarting up\0\0')
  assert.equal(readReply(fatal)?.error, '57P03 starting up')
})

test('a request for a password is an error', () => {
  const asked = message('R', '\0\0\0\n')
  assert.equal(readReply(asked)?.error, 'the server asks for a password')
  const accepted = Buffer.concat([message('R', '\0\0\0\0'), ready])
  assert.equal(readReply(accepted)?.error, undefined)
})

test('the client puts together replies that arrive byte by byte, and reports errors', async () => {
  const error = message('E', 'SERROR\0VERROR\0C23505\0Mduplicate key\0\0')
  const replies = [ready, twoRows, Buffer.concat([error, ready])]
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => void sendSlowly(socket, replies.shift() ?? Buffer.alloc(0)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = await PostgresClient.connect(port, 1)
  try {
    assert.equal((await client.query('SELECT')).length, 2)
    await assert.rejects(client.query('INSERT'), /23505 duplicate key/)
  } finally {
    client.close()
    server.close()
  }
})

async function sendSlowly(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes)
    await new Promise<void>((resolve) => {
      socket.write(Buffer.of(byte), () => setImmediate(resolve))
    })
}

test('the newest PostgreSQL from version 15 is found, and others are not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stela-bench-test-'))
  try {
    for (const version of ['9.6', '14']) await addInstallation(folder, version)
    assert.equal(findPostgres('/nonexistent', folder), undefined)
    for (const version of ['15', '16']) await addInstallation(folder, version)
    assert.equal(findPostgres('/nonexistent', folder)?.version, '16.1')
    assert.equal(findPostgres(join(folder, '15/bin'), folder)?.version, '15.1')
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function addInstallation(folder: string, version: string): Promise<void> {
  const programs = join(folder, version, 'bin')
  await mkdir(programs, { recursive: true })
  for (const name of ['postgres', 'initdb']) {
    const file = join(programs, name)
    await writeFile(file, `#!/bin/sh\necho "${name} (PostgreSQL) ${version}.1"\n`)
    await chmod(file, 0o755)
  }
}

test('customers have the documented size and matches, at any number of documents', () => {
  const size = 3000
  const loaded = new CustomerPicks(7, size, 0)
  const texts = Array.from({ length: size }, () => withId(loaded.newCustomer()))
  const mean = texts.reduce((sum, text) => sum + text.length, 0) / size
  assert(mean > 400 && mean < 425, `${mean}`)
  const documents = texts.map(
    (text) => JSON.parse(text) as { _id: string; account: string; city: string },
  )
  const picks = new CustomerPicks(7, size)
  const [account, city, id] = [picks.account(), picks.city(), picks.id()]
  assert.equal(documents.filter((document) => document.account === account).length, 20)
  assert.equal(documents.filter((document) => document._id === id).length, 1)
  const inCity = documents.filter((document) => document.city === city).length
  assert(inCity > 900 && inCity < 1100, `${inCity}`)
  assert(!documents.some(({ _id }) => _id === picks.newCustomer().id))
})
