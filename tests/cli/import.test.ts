/** `stela import`: formats, rejected records, interruptions. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Input } from '../../src/cli/records/input.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { runStela, startStela, type Ran } from './run-stela.ts'

const keyspace = '/default_keyspace'

describe('stela import', { concurrency: 2 }, () => {
  let server: TestServer
  let folder: string
  let files = 0
  before(async () => {
    server = await startServer({ durable: false })
    folder = await temporaryFolder()
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  async function fileOf(content: string | Buffer, ending: string): Promise<string> {
    const path = join(folder, `${files++}${ending}`)
    await writeFile(path, content)
    return path
  }

  /** Imports the file at `path` into a new collection. */
  function importInto(name: string, path: string, ...more: string[]): Promise<Ran> {
    const args = ['import', path, '--collection', name, '--create', '--url', server.url]
    return runStela([...args, ...more])
  }

  async function exported(name: string, kind = 'collection'): Promise<string[]> {
    const ran = await runStela(['export', `--${kind}`, name, '--url', server.url])
    assert.equal(ran.code, 0, ran.err)
    return String(ran.out).split('\n').slice(0, -1).toSorted()
  }

  test('reads lines with or without a final line end, and skips empty lines', async () => {
    const path = await fileOf('\ufeff{"_id":1}\r\n\r\n  \n {"_id":2} \n{"_id":3}', '.txt')
    const { code, err, out } = await importInto('lines', path)
    assert.equal(code, 0, err)
    assert.match(err, /^stela: imported 3 documents, in /m)
    assert.equal(String(out), '')
    assert.deepEqual(await exported('lines'), ['{"_id":1}', '{"_id":2}', '{"_id":3}'])
    assert(!existsSync(`${path}.progress`) && !existsSync(`${path}.rejected`))
  })

  test('reads a compressed array from standard input', async () => {
    const array = '[\n {"_id": "]}\\",", "a": [1, {"b": []}]},\n {"_id": 1.50}\n]\n'
    const args = ['import', '-', '--collection', 'array', '--create', '--url', server.url]
    const { code, err } = await runStela(args, { input: gzipSync(array) })
    assert.equal(code, 0, err)
    assert.deepEqual(await exported('array'), [
      '{"_id":"]}\\",","a":[1,{"b":[]}]}',
      '{"_id":1.5}',
    ])
  })

  test('reads CSV according to RFC 4180', async () => {
    const csv =
      '_id,"a ""name""",dotted.name,n,empty\r\n' +
      '1,"two\r\nlines, one comma",x,0.10000000000000000000001,\r\n' +
      '\r\n' +
      '007,"say ""hi""",5" disk,true,""\r\n' +
      '3,too,few\r\n' +
      '4,"text"after,x,1,\r\n' +
      '5,,,-1e3,\r\n' +
      '6,"never closed'
    const path = await fileOf(csv, '.csv')
    const { code, err } = await importInto('cells', path)
    assert.equal(code, 2)
    assert.deepEqual(err.split('\n').slice(0, 3), [
      'stela: line 6: the record has 3 cells, but the header has 5',
      'stela: line 7: cell 2 has text after its closing quote',
      'stela: line 9: a quoted cell has no closing quote',
    ])
    assert.deepEqual(await exported('cells'), [
      '{"_id":"007","a \\"name\\"":"say \\"hi\\"","dotted.name":"5\\" disk","n":true}',
      '{"_id":1,"a \\"name\\"":"two\\r\\nlines, one comma","dotted.name":"x","n":0.10000000000000000000001}',
      '{"_id":5,"n":-1000}',
    ])
    assert.equal(
      await readFile(`${path}.rejected`, 'utf8'),
      '_id,"a ""name""",dotted.name,n,empty\n3,too,few\n4,"text"after,x,1,\n6,"never closed\n',
    )
    const text = await fileOf('_id,n\n1,2\n', '.csv')
    assert.equal((await importInto('texts', text, '--types', 'text')).code, 0)
    assert.deepEqual(await exported('texts'), ['{"_id":"1","n":"2"}'])
  })

  test('converts cells to the column types of a table', async () => {
    const columns = {
      id: 'int',
      name: 'text',
      price: 'decimal',
      sold: 'boolean',
      at: 'date',
      tags: { type: 'list', valueType: 'text' },
      place: { type: 'vector', dimension: 2 },
      bytes: 'blob',
    }
    const definition = { columns, primaryKey: 'id' }
    await server.command(keyspace, { createTable: { name: 'goods', definition } })
    const csv =
      'id,name,price,sold,at,tags,place,bytes\n' +
      '1,12,0.10,true,2024-02-29,"[""a"",""b""]","[1,2]",AQID\n' +
      '2,true,,,,,,\n' +
      'x,,,,,,,\n' +
      '4,,,,,[a],,\n'
    const path = await fileOf(csv, '.csv')
    const args = ['import', path, '--table', 'goods', '--url', server.url]
    const { code, err } = await runStela(args)
    assert.equal(code, 2)
    assert.match(err, /^stela: line 4: INVALID_COLUMN_VALUES: /)
    assert.match(err, /line 5: the cell of "tags" is not valid JSON/)
    assert.match(err, /imported 2 rows, rejected 2/)
    assert.deepEqual(await exported('goods', 'table'), [
      '{"id":1,"at":"2024-02-29","bytes":{"$binary":"AQID"},"name":"12","place":[1.0,2.0],"price":0.1,"sold":true,"tags":["a","b"]}',
      '{"id":2,"name":"true"}',
    ])
  })

  test('saves rejected records unchanged, reports their errors, and imports the other records', async () => {
    const bad = [
      '{"_id":1, "again":true}',
      '{"_id":',
      '[1]',
      '{"a":1,"a":2}',
      '{"_id":[]}',
      '{"$vectorize":"this refuses the whole request"}',
      '{"deep":' + '['.repeat(600) + ']'.repeat(600) + '}',
    ]
    const good = Array.from({ length: 250 }, (_, i) => `{"_id":${i}}`)
    const path = await fileOf([...good, ...bad, '{"_id":"last"}'].join('\n'), '.jsonl')
    const rejects = join(folder, 'rejects')
    const { code, err } = await importInto('picky', path, '--rejects', rejects)
    assert.equal(code, 2)
    assert.match(err, /^stela: line 251: DOCUMENT_ALREADY_EXISTS: /)
    assert.match(err, /line 252: the record is not valid JSON: /)
    assert.match(err, /line 253: the record must be a JSON object, but is Array/)
    assert.match(err, /line 256: \w+: /)
    assert.match(err, /imported 251 documents, rejected 7 \(saved in .*rejects\)/)
    assert.equal(await readFile(rejects, 'utf8'), bad.map((line) => `${line}\n`).join(''))
    assert.equal((await exported('picky')).length, 251)
  })

  test('reports that rejected records longer than a request are not saved', async () => {
    const path = await fileOf(`${'x'.repeat(20_000_001)}\n{"_id": 1}\n`, '.jsonl')
    const { code, err } = await importInto('long', path)
    assert.equal(code, 2)
    assert.match(err, /imported 1 document, rejected 1 \(not saved\)/)
    assert(!existsSync(`${path}.rejected`))
  })

  test('detects the format of a file of white space without reading the whole file', async () => {
    const path = await fileOf(' \n'.repeat(5_000_000), '')
    const input = await Input.open(path, undefined)
    assert.equal(input.format, 'jsonl')
    assert(input.partRead! < 0.2)
    for await (const records of input.records()) assert.deepEqual(records, [])
  })

  test('reports only the first twenty rejected records, and saves each record on one line', async () => {
    const path = await fileOf(`[${'{"_id":\nnone},\n'.repeat(30)}]`, '.json')
    const { code, err } = await importInto('worse', path)
    assert.equal(code, 2)
    assert.equal(err.match(/: line /g)!.length, 20)
    assert.match(err, /further rejected records are not shown/)
    assert.match(err, /imported 0 documents, rejected 31 /)
    assert.equal(await readFile(`${path}.rejected`, 'utf8'), '{"_id": none}\n'.repeat(30))
  })

  test('sends documents of every size that the server accepts', async () => {
    const options = { indexing: { deny: ['big'] } }
    await server.command(keyspace, { createCollection: { name: 'large', options } })
    const sized = (id: number, size: number) => `{"_id":${id},"big":"${'x'.repeat(size)}"}`
    const largest = 4_000_000 - sized(10, 0).length
    const lines = [
      ...[10, 11, 12, 13, 14, 15].map((id) => sized(id, largest)),
      sized(16, 4_100_000),
      sized(17, 19_999_900),
      sized(18, 21_000_000),
      ...Array.from({ length: 150 }, (_, i) => sized(100 + i, 100_000)),
    ]
    const path = await fileOf(lines.join('\n'), '.jsonl')
    const { code, err } = await importInto('large', path)
    assert.equal(code, 2)
    assert.match(err, /line 7: SHRED_DOC_LIMIT_VIOLATION/)
    assert.match(
      err,
      /line 8: the record is larger than \d+ bytes, the maximum of a request/,
    )
    assert.match(
      err,
      /line 9: the record has 21000019 bytes; the maximum of a request is 20000000/,
    )
    assert.match(err, /imported 156 documents, rejected 3/)
  })

  test('rejects a document with $vector and $vectorize, unless --no-embed keeps the vector', async () => {
    const path = await fileOf('{"_id":1,"$vector":[1,2],"$vectorize":"text"}\n', '.jsonl')
    const options = { vector: { dimension: 2 } }
    await server.command(keyspace, { createCollection: { name: 'vectors', options } })
    assert.equal((await importInto('vectors', path)).code, 2)
    assert.equal((await importInto('vectors', path, '--no-embed')).code, 0)
    assert.deepEqual(await exported('vectors'), ['{"_id":1,"$vector":[1.0,2.0]}'])
  })

  for (const [says, args, content = ''] of [
    [/no such file/, ['/nowhere.jsonl', '--collection', 'x']],
    [/has no collection missing/, ['', '--collection', 'missing']],
    [/Create the table first, with its columns/, ['', '--table', 'x', '--create']],
    [/--resume needs a file/, ['-', '--collection', 'x', '--resume']],
    [/names "a" twice/, ['', '--collection', 'x', '--create'], 'a,a\n1,2\n'],
    [
      /is not a JSON array/,
      ['', '--collection', 'x', '--create', '--format', 'json'],
      '{}',
    ],
    [/not a valid gzip file/, ['', '--collection', 'x', '--create'], '\x1f\x8bno'],
    [/'xml'.*jsonl, json, csv/, ['', '--collection', 'x', '--format', 'xml']],
  ] as const)
    test(`exits with 1 and reports ${says.source}`, async () => {
      const path = await fileOf(Buffer.from(content, 'latin1'), '.csv')
      const given = args.map((arg) => (arg === '' ? path : arg))
      const { code, err } = await runStela(['import', ...given, '--url', server.url])
      assert.equal(code, 1)
      assert(!existsSync(`${path}.progress`))
      assert.match(err, says)
      assert.equal(err.trim().split('\n').length, 1, err)
    })
})

describe('an interrupted stela import', () => {
  let folder: string
  let server: TestServer
  let port: number
  before(async () => {
    folder = await temporaryFolder()
    server = await startServer({ durable: false })
    port = Number(new URL(server.url).port)
    await server.command(keyspace, { createCollection: { name: 'books' } })
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  const count = 9000
  /** Two lines are rejected: one before and one after the interruptions. */
  const lines = Array.from({ length: count }, (_, i) =>
    i === 100 || i === 8900 ? 'not JSON' : `{"_id":${i},"text":"${'words '.repeat(20)}"}`,
  )

  async function clear(): Promise<void> {
    await server.command(`${keyspace}/books`, { deleteMany: {} })
  }

  async function newFile(name: string): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, lines.join('\n'))
    return path
  }

  function args(path: string, ...more: string[]): string[] {
    return ['import', path, '--collection', 'books', '--url', server.url, ...more]
  }

  async function untilDone(path: string, records: number): Promise<void> {
    for (;;) {
      const text = await readFile(`${path}.progress`, 'utf8').catch(() => '')
      if (Number(/"done":(\d+)/.exec(text)?.[1] ?? 0) >= records) return
      await pause(2)
    }
  }

  async function assertComplete(path: string, { code, err }: Ran): Promise<void> {
    assert.equal(code, 2, err)
    assert.match(err, /rejected 2 \(/)
    const { out } = await runStela(['export', '--collection', 'books', '--url', server.url])
    const expected = lines.filter((line) => line !== 'not JSON')
    const stored = String(out).split('\n').slice(0, -1)
    assert.equal(stored.length, expected.length)
    assert.deepEqual(new Set(stored), new Set(expected))
    assert.equal(await readFile(`${path}.rejected`, 'utf8'), 'not JSON\nnot JSON\n')
    assert(!existsSync(`${path}.progress`))
  }

  test('continues with --resume after the import was killed', async () => {
    const path = await newFile('killed.jsonl')
    const { child, ended } = startStela(args(path))
    await untilDone(path, 1000)
    child.kill('SIGKILL')
    assert.equal((await ended).code, null)
    const again = await runStela(args(path))
    assert.equal(again.code, 1)
    assert.match(again.err, /was interrupted\. Continue it with --resume/)
    const resumed = await runStela(args(path, '--resume'))
    await assertComplete(path, resumed)
  })

  test('waits until a stopped server returns, or reports how to continue with --resume', async () => {
    await clear()
    const path = await newFile('away.jsonl')
    const waiting = startStela(args(path))
    await untilDone(path, 500)
    await server.stop()
    server = await startServer({ durable: false, port, dataDir: server.dataDir })
    await untilDone(path, 1000)
    waiting.child.kill('SIGTERM')
    const interrupted = await waiting.ended
    assert.equal(interrupted.code, 1)
    const done = /interrupted\. (\d+) records were processed\. .* --resume/.exec(
      interrupted.err,
    )!

    const impatient = startStela(args(path, '--resume', '--retry-for', '1'))
    await untilDone(path, Number(done[1]) + 100)
    await server.stop()
    const stopped = await impatient.ended
    assert.equal(stopped.code, 1)
    assert.match(stopped.err, /cannot reach the server.*retried for 1 s.*--resume/)
    server = await startServer({ durable: false, port, dataDir: server.dataDir })
    await assertComplete(path, await runStela(args(path, '--resume')))
  })

  test('counts documents that were sent before the interruption as already stored', async () => {
    const path = join(folder, 'twice.jsonl')
    const twice = Array.from({ length: 50 }, (_, i) => `{"_id":"twice ${i}"}`)
    await writeFile(path, twice.slice(0, 40).join('\n'))
    assert.equal((await runStela(args(path))).code, 0)
    await writeFile(path, twice.join('\n'))
    const { size, mtimeMs } = await stat(path)
    const kept = {
      input: { size, changedAt: Math.floor(mtimeMs) },
      target: `${server.url}/v1/default_keyspace/books`,
      state: { done: 10, sent: 30, inserted: 10, there: 0, rejected: 0, rejectsSize: 0 },
    }
    await writeFile(`${path}.progress`, JSON.stringify(kept))
    const { code, err } = await runStela(args(path, '--resume'))
    assert.equal(code, 2)
    assert.match(err, /imported 20 documents, 20 already stored .*, rejected 10 /)
    assert.match(err, /line 31: DOCUMENT_ALREADY_EXISTS/)
  })

  test('rejects a resume with another file or another collection', async () => {
    const path = await newFile('changed.jsonl')
    const { size, mtimeMs } = await stat(path)
    const input = { size, changedAt: Math.floor(mtimeMs) }
    const kept = {
      input: { size: 1, changedAt: 1 },
      target: `${server.url}/v1/default_keyspace/books`,
      state: { done: 10, sent: 30, inserted: 10, there: 0, rejected: 0, rejectsSize: 0 },
    }
    for (const [text, says] of [
      [JSON.stringify(kept), /the input has changed/],
      [JSON.stringify({ ...kept, input, target: 'elsewhere' }), /an import into elsewhere/],
      ['{', /is damaged/],
    ] as const) {
      await writeFile(`${path}.progress`, text)
      const { code, err } = await runStela(args(path, '--resume'))
      assert.equal(code, 1)
      assert.match(err, says)
    }
  })
})
