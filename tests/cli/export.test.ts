/** `stela export`, and the round trip through `stela import`. */
import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { runStela } from './run-stela.ts'

const keyspace = '/default_keyspace'

describe('stela export', () => {
  let server: TestServer
  let folder: string
  before(async () => {
    server = await startServer({ durable: false })
    folder = await temporaryFolder()
    for (const name of ['all', 'copy', 'few'])
      await server.command(keyspace, {
        createCollection: {
          name,
          options: {
            vector: { dimension: 3 },
            lexical: { enabled: true, analyzer: 'standard' },
          },
        },
      })
    const few = [{ _id: 1, $vector: [1, 2, 3], $lexical: 'words', a: 1 }, { _id: 2 }]
    await server.command(`${keyspace}/few`, { insertMany: { documents: few } })
    const definition = {
      columns: {
        id: 'int',
        big: 'varint',
        exact: 'decimal',
        far: 'double',
        bytes: 'blob',
        at: 'timestamp',
        tags: { type: 'set', valueType: 'text' },
        counts: { type: 'map', keyType: 'int', valueType: 'text' },
        place: { type: 'vector', dimension: 2 },
      },
      primaryKey: 'id',
    }
    for (const name of ['rows', 'rows_copy'])
      await server.command(keyspace, { createTable: { name, definition } })
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  const at = () => ['--url', server.url]

  test('--help describes the command', async () => {
    const { code, out } = await runStela(['export', '--help'])
    assert.equal(code, 0)
    assert.match(String(out), /STELA_TOKEN/)
  })

  test('writes lines from which import creates the same collection', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => documentOf(i))
    const given = join(folder, 'given.jsonl')
    await writeFile(given, lines.map((line) => `${line}\n`).join(''))
    const imported = await runStela(['import', given, '--collection', 'all', ...at()])
    assert.equal(imported.code, 0, imported.err)
    assert.match(imported.err, /imported 5000 documents/)

    const first = join(folder, 'first.jsonl')
    const exported = await runStela([
      'export',
      '--collection',
      'all',
      '--out',
      first,
      ...at(),
    ])
    assert.equal(exported.code, 0, exported.err)
    assert.match(exported.err, /exported 5000 documents/)
    const written = (await readFile(first, 'utf8')).split('\n').slice(0, -1)
    assertSame(written, lines)

    assert.equal(
      (await runStela(['import', first, '--collection', 'copy', ...at()])).code,
      0,
    )
    const second = await runStela(['export', '--collection', 'copy', ...at()])
    assertSame(String(second.out).split('\n').slice(0, -1), lines)
    assert.deepEqual(
      (await readdir(folder)).toSorted(),
      ['first.jsonl', 'given.jsonl'],
      'nothing else is left behind',
    )
  })

  test('compresses its output, to a file or to standard output', async () => {
    const args = ['export', '--collection', 'few', '--gzip', ...at()]
    const { code, out, err } = await runStela(args)
    assert.equal(code, 0, err)
    const lines = String(gunzipSync(out))
    assert.equal(
      lines,
      '{"_id":1,"a":1,"$vector":[1.0,2.0,3.0],"$lexical":"words"}\n{"_id":2}\n',
    )
    const path = join(folder, 'few.gz')
    assert.equal((await runStela([...args, '--out', path])).code, 0)
    assert.equal(String(gunzipSync(await readFile(path))), lines)
  })

  test('omits search fields with --no-search-fields', async () => {
    const { out } = await runStela([
      'export',
      '--collection',
      'few',
      '--no-search-fields',
      ...at(),
    ])
    assert.equal(String(out), '{"_id":1,"a":1}\n{"_id":2}\n')
  })

  test('writes the rows of a table, and import reads them back', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => ({
      id: i,
      big: 12_345 + i,
      far: i % 2 === 0 ? 'NaN' : i / 7,
      bytes: { $binary: Buffer.from([i]).toString('base64') },
      at: '2026-01-01T00:00:00.001Z',
      tags: ['a', `${i}`],
      counts: [[i, 'times']],
      place: [i, 0.5],
    }))
    await server.command(`${keyspace}/rows`, { insertMany: { documents: rows } })
    await server.command(
      `${keyspace}/rows`,
      '{"insertOne":{"document":{"id":99,"exact":0.12345678901234567890123,"big":123456789012345678901234567890}}}',
    )
    const path = join(folder, 'rows.jsonl')
    const args = ['--table', 'rows', '--out', path, ...at()]
    const exported = await runStela(['export', ...args])
    assert.match(exported.err, /exported 51 rows/)
    const text = await readFile(path, 'utf8')
    assert.match(text, /"exact":0\.12345678901234567890123/)
    assert.match(text, /"id":7,.*"far":1\.0,"place":\[7\.0,0\.5\]/)
    const imported = await runStela(['import', path, '--table', 'rows_copy', ...at()])
    assert.equal(imported.code, 0, imported.err)
    const copy = await runStela(['export', '--table', 'rows_copy', ...at()])
    assert.equal(String(copy.out), text)
  })

  for (const [says, args, token] of [
    [
      /has no collection none\. Its collections: all, copy, few\./,
      ['--collection', 'none'],
    ],
    [/has no table few\./, ['--table', 'few']],
    [/Pass --collection or --table/, []],
    [/none/, ['--collection', 'few', '--keyspace', 'none']],
    [/applies only to collections/, ['--table', 'rows', '--no-search-fields']],
    [/does not accept the token/, ['--collection', 'few'], 'wrong'],
    [/no such file/, ['--collection', 'few', '--out', '/nowhere/at/all']],
    [/cannot be used with/, ['--collection', 'few', '--table', 'rows']],
  ] as const)
    test(`exits with 1 and reports ${says.source}`, async () => {
      const { code, out, err } = await runStela(
        ['export', ...args, ...at()],
        token === undefined ? {} : { token },
      )
      assert.equal(code, 1)
      assert.equal(String(out), '')
      assert.match(err, says)
      assert.equal(err.trim().split('\n').length, 1, err)
    })

  test('reports an unreachable server and a wrong path', async () => {
    const args = ['export', '--collection', 'few', '--url']
    const away = await runStela([...args, 'http://127.0.0.1:9'])
    assert.deepEqual([away.code, String(away.out)], [1, ''])
    assert.match(
      away.err,
      /^stela: cannot reach the server at http:\/\/127\.0\.0\.1:9: .*--url/,
    )
    const other = await runStela([...args, `${server.url}/elsewhere`])
    assert.equal(other.code, 1)
    assert.match(other.err, /UNKNOWN_PATH: "\/elsewhere/)
  })
})

/** Asserts that both lists contain the same lines in any order. */
function assertSame(lines: readonly string[], expected: readonly string[]): void {
  assert.equal(lines.length, expected.length)
  const known = new Set(expected)
  assert.deepEqual(
    lines.filter((line) => !known.delete(line)),
    [],
  )
}

/** JSON of a document with values of every kind, exactly as replies contain it. */
function documentOf(i: number): string {
  const kinds = [
    `"n":1${'0'.repeat(i % 40)}1`,
    '"precise":0.1000000000000000000000000001',
    '"tiny":1e-7,"negative":-1.5,"exponent":1.25e+60',
    '"odd":"\\u0000\\u001f \u{1f600} é \\ud800 \\"\\\\ \u2028"',
    '"10":1,"2":2,"__proto__":{"constructor":null},"a.b":{}',
    '"list":[1,"two",[3,[4]],{},[],null,true,false]',
    '"when":{"$date":1700000000000},"who":{"$uuid":"123e4567-e89b-42d3-a456-426614174000"}',
    '"object":{"$objectId":"507f1f77bcf86cd799439011"}',
  ]
  const search =
    i % 3 === 0 ? `,"$vector":[0.1,-${i}.5,0.00001],"$lexical":"text ${i}"` : ''
  const ids = [`"id ${i}"`, String(i), `{"$date":${i}}`]
  return `{"_id":${ids[i % ids.length]!},${kinds[i % kinds.length]!}${search}}`
}
