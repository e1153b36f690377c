/** Parsing of imported files, and writing of exported documents. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parseJson } from '../../src/console/json/parse-json.ts'
import type { JsonObject } from '../../src/console/json/value.ts'
import { columnNames, CsvSplitter, findDelimiter } from '../../src/console/files/csv.ts'
import { writeRow } from '../../src/console/data/csv-text.ts'
import { runExport } from '../../src/console/files/export-run.ts'
import {
  runImport,
  secondsLeft,
  type Rejection,
} from '../../src/console/files/import-run.ts'
import {
  firstMappings,
  mapRecord,
  type FieldMapping,
  type RecordMapping,
} from '../../src/console/files/map-fields.ts'
import { detectFormat, detectKind, openRecords } from '../../src/console/files/read-file.ts'
import { recordLengthMax, type Splitter } from '../../src/console/files/source-record.ts'
import { JsonSplitter } from '../../src/console/files/split-json.ts'
import { LineSplitter } from '../../src/console/files/split-lines.ts'

/** All records of a text that arrives in pieces of this length. */
function split(splitter: Splitter, text: string, length: number) {
  const found = []
  for (let at = 0; at < text.length; at += length)
    found.push(...splitter.push(text.slice(at, at + length)))
  return [...found, ...splitter.end()]
}

const pieceLengths = [1, 2, 3, 7, 1000]

describe('records of a file', () => {
  test('are its non-empty lines when each line is a record', () => {
    for (const length of pieceLengths)
      assert.deepEqual(split(new LineSplitter(), '{"a":1}\r\n\n  \n{"b":\n2}', length), [
        { line: 1, text: '{"a":1}' },
        { line: 4, text: '{"b":' },
        { line: 5, text: '2}' },
      ])
  })

  test('are the elements of a JSON array, whatever the elements contain', () => {
    const text = ' [\n{"a": "]},\\"{["},\n [1, [2]] , 3,\n"x"\n, {"b\\\\": {}}]\n'
    for (const length of pieceLengths)
      assert.deepEqual(split(new JsonSplitter(), text, length), [
        { line: 2, text: '{"a": "]},\\"{["}' },
        { line: 3, text: '[1, [2]]' },
        { line: 3, text: '3' },
        { line: 4, text: '"x"' },
        { line: 5, text: '{"b\\\\": {}}' },
      ])
  })

  test('are consecutive JSON values', () => {
    for (const length of pieceLengths)
      assert.deepEqual(
        split(new JsonSplitter(), '{\n"a": 1\n}{"b": 2}\n\n{}', length).map((r) => r.line),
        [1, 3, 5],
      )
  })

  test('are rejected when a record is incomplete or exceeds the maximum size', () => {
    for (const text of ['[{"a":1}', '[{"a"', '{"a": "', '[] {}'])
      assert.throws(() => split(new JsonSplitter(), text, 3), { name: 'FileError' }, text)
    const endless = `{"a": "${'x'.repeat(recordLengthMax)}`
    assert.throws(() => split(new JsonSplitter(), endless, 1e6), /exceeds the maximum size/)
    assert.throws(() => split(new LineSplitter(), endless, 1e6), /exceeds the maximum size/)
    assert.throws(
      () => split(new CsvSplitter(','), `"${endless}`, 1e6),
      /exceeds the maximum size/,
    )
  })

  test('are rows of cells in CSV', () => {
    const text = 'a,b,c\r\n1,"x, ""y""\nz",\r\n\r\n"q"r,,"end"'
    for (const length of pieceLengths) {
      const rows = split(new CsvSplitter(','), text, length)
      assert.deepEqual(
        rows.map(({ line, cells }) => [line, cells]),
        [
          [1, ['a', 'b', 'c']],
          [2, ['1', 'x, "y"\nz', '']],
          [5, ['qr', '', 'end']],
        ],
      )
      assert.equal(rows[1]!.text, '1,"x, ""y""\nz",')
    }
  })

  test('have a detected delimiter and unique column names in CSV', () => {
    assert.equal(findDelimiter('a;b;"c,d,e"\n1,2,3'), ';')
    assert.equal(findDelimiter('a\tb'), '\t')
    assert.equal(findDelimiter('a'), ',')
    assert.deepEqual(columnNames(['a', '', 'a', ' b ']), ['a', 'column 2', 'a 2', 'b'])
  })

  test('have the format that the file name and the text indicate', () => {
    for (const [name, head, format] of [
      ['a.csv', '{"a":1}', 'csv'],
      ['a.ndjson', '[1]', 'lines'],
      ['a.json', ' [{"a":1}]', 'json'],
      ['a.json', '{"a":1}\n{"a":2}', 'lines'],
      ['a.json', '{\n"a":1}', 'json'],
      ['a', 'x,y\n1,2', 'csv'],
    ] as const)
      assert.equal(detectFormat(name, head), format, name)
  })

  test('are decompressed, and their progress is counted in bytes of the file', async () => {
    const text = Array.from({ length: 5_000 }, (_, i) => `{"i":${i},"e":"é"}\n`).join('')
    const file = new Blob([gzipSync(text)])
    const kind = await detectKind(file, 'a.jsonl.gz')
    assert.equal(kind.format, 'lines')
    assert(kind.isGzip)
    let bytes = 0
    const { records, columns } = await openRecords(file, kind, (read) => (bytes = read))
    assert.equal(columns, undefined)
    const all = await Array.fromAsync(records)
    assert.equal(all.length, 5_000)
    assert.equal(all[4_999]!.text, '{"i":4999,"e":"é"}')
    assert.equal(bytes, file.size)
    const damaged = new Blob([gzipSync(text).subarray(0, 500)])
    await assert.rejects(detectKind(damaged, 'a.gz'), { name: 'FileError' })
  })

  test('exclude the header of CSV, which is available separately', async () => {
    const file = new Blob(['\ufeffname;n\nx;1\n'])
    const { columns, header, records } = await openRecords(
      file,
      await detectKind(file, 'a.csv'),
    )
    assert.deepEqual(columns, ['name', 'n'])
    assert.equal(header, 'name;n')
    assert.deepEqual((await Array.fromAsync(records))[0]!.cells, ['x', '1'])
  })
})

describe('the mapping of fields', () => {
  const collection: RecordMapping = {
    columns: undefined,
    fields: [],
    types: undefined,
    nestNames: false,
  }
  const field = (source: string, more: Partial<FieldMapping> = {}): FieldMapping => {
    return { source, target: source, isUsed: true, type: 'auto', ...more }
  }
  const map = (text: string, mapping: Partial<RecordMapping>, cells?: readonly string[]) =>
    mapRecord(
      { line: 1, text, ...(cells === undefined ? {} : { cells }) },
      { ...collection, ...mapping },
    )

  test('keeps the text of an object that needs no change, and rejects invalid objects', () => {
    const text = '{"n": 123456789012345678901234567890.10, "__proto__": {"a": 1}}'
    assert.equal(map(text, { fields: [field('n')] }), text)
    for (const bad of ['[1]', '1', '{', '{"a": 01}'])
      assert.throws(() => map(bad, {}), { name: 'RecordError' }, bad)
  })

  test('renames, omits and converts fields, and keeps all digits of numbers', () => {
    const text =
      '{"n":0.10,"s":"12345678901234567890","d":"2024-02-29T12:00:00Z","t":"yes","gone":1,' +
      '"j":"[1.0]","more":1e400}'
    const fields = [
      field('n', { target: '__proto__' }),
      field('s', { type: 'number' }),
      field('d', { type: 'date' }),
      field('t', { type: 'boolean' }),
      field('gone', { isUsed: false }),
      field('j', { type: 'json' }),
    ]
    assert.equal(
      map(text, { fields }),
      '{"__proto__":0.10,"s":12345678901234567890,"d":{"$date":1709208000000},"t":true,' +
        '"j":[1.0],"more":1e400}',
    )
    assert.equal(
      map('{"n":1.50}', { fields: [field('n', { type: 'text' })] }),
      '{"n":"1.50"}',
    )
    for (const type of ['number', 'date', 'boolean'] as const)
      assert.throws(() => map('{"a":"x"}', { fields: [field('a', { type })] }), /"x" is n/)
  })

  test('guesses the types of cells', () => {
    const columns = ['a', 'b', 'c', 'd', 'e', 'f.g', 'f.h', 'i']
    const cells = ['1.50', '007', 'true', '', '[1,2]', 'x', '-2e3', '[oops]']
    assert.equal(
      map('', { columns, nestNames: true }, cells),
      '{"a":1.50,"b":"007","c":true,"e":[1,2],"f":{"g":"x","h":-2e3},"i":"[oops]"}',
    )
    assert.throws(
      () => map('', { columns: ['a'] }, ['1', '2']),
      /2 cells, but the header has 1 columns/,
    )
    const clash = { columns: ['f', 'f.g'], nestNames: true }
    assert.throws(() => map('', clash, ['1', '2']), /inside a field that is not an object/)
  })

  test('converts cells to the types of columns', () => {
    const types = new Map(
      Object.entries({
        id: { type: 'bigint' },
        name: { type: 'text' },
        on: { type: 'boolean' },
        at: { type: 'timestamp' },
        tags: { type: 'set' },
        bytes: { type: 'blob' },
        v: { type: 'vector' },
        ip: { type: 'inet' },
      }),
    )
    const columns = [...types.keys()]
    const cells = [
      '9007199254740993',
      '12',
      '1',
      '2024-02-29 12:30',
      '["b"]',
      'YQ==',
      '[1]',
    ]
    assert.equal(
      map('', { columns, types }, [...cells, '127.1']),
      '{"id":9007199254740993,"name":"12","on":true,"at":"2024-02-29T12:30:00Z",' +
        '"tags":["b"],"bytes":{"$binary":"YQ=="},"v":[1],"ip":"127.1"}',
    )
    assert.equal(
      map('{"id":"5","name":5,"v":"a text","tags":null}', { types }),
      '{"id":5,"name":"5","v":"a text","tags":null}',
    )
    assert.deepEqual(
      firstMappings(['ID', 'Name', 'other', 'ID'], types).map((m) => [m.target, m.isUsed]),
      [
        ['id', true],
        ['name', true],
        ['other', false],
      ],
    )
  })
})

describe('an import', () => {
  async function* lines(count: number) {
    for (let line = 1; line <= count; line++) {
      await Promise.resolve()
      yield { line, text: String(line) }
    }
  }

  test('sends batches, a few at a time, and reports rejected records', async () => {
    const rejections: Rejection[] = []
    let atWork = 0
    let most = 0
    let last = { inserted: 0, rejected: 0 }
    const seen: string[] = []
    await runImport({
      records: lines(1_050),
      map({ text }) {
        if (text === '7') throw new Error('not that one')
        return text
      },
      async insert(documents) {
        most = Math.max(most, ++atWork)
        await new Promise((resolve) => setImmediate(resolve))
        atWork--
        assert(documents.length <= 100)
        seen.push(...documents)
        const at = documents.indexOf('500')
        return new Map(at < 0 ? [] : [[at, 'it is there already']])
      },
      onReject: (rejection) => rejections.push(rejection),
      onProgress: (counts) => (last = counts),
      signal: new AbortController().signal,
    })
    assert.equal(most, 4)
    assert.equal(new Set(seen).size, 1_049)
    assert.deepEqual(last, { inserted: 1_048, rejected: 2 })
    assert.deepEqual(rejections, [
      { line: 7, text: '7', message: 'not that one' },
      { line: 500, text: '500', message: 'it is there already' },
    ])
  })

  test('ends when it is cancelled, and when no further insert can succeed', async () => {
    const controller = new AbortController()
    let sent = 0
    const options = {
      records: lines(100_000),
      map: ({ text }: { readonly text: string }) => text,
      onReject: () => undefined,
      onProgress: () => undefined,
      signal: controller.signal,
    }
    await runImport({
      ...options,
      insert(documents) {
        sent += documents.length
        if (sent >= 1_000) controller.abort()
        return Promise.resolve(new Map())
      },
    })
    assert(sent < 2_000)
    let attempts = 0
    const failing = runImport({
      ...options,
      records: lines(100_000),
      signal: new AbortController().signal,
      insert: () => Promise.reject(new Error(`gone ${++attempts}`)),
    })
    await assert.rejects(failing, /gone 1/)
    assert(attempts <= 4)
  })

  test('estimates its remaining time', () => {
    assert.equal(secondsLeft(0, 100, 5_000), undefined)
    assert.equal(secondsLeft(10, 100, 500), undefined)
    assert.equal(secondsLeft(25, 100, 5_000), 15)
  })
})

describe('an export', () => {
  const pages = [
    '{"_id":1,"n":10000000000000000.10,"t":"a, \\"b\\""}',
    '{"_id":2,"o":{"x":[1.0]},"t":null,"__proto__":true}',
  ].map((text) => [parseJson(text) as JsonObject])

  async function exported(columns: readonly string[] | undefined) {
    let text = ''
    const summary = await runExport({
      fetchPage: (state) => {
        const at = Number(state)
        const next = at + 1 < pages.length ? String(at + 1) : null
        return Promise.resolve({ documents: pages[at]!, next })
      },
      write(more) {
        text += more
        return Promise.resolve()
      },
      columns,
      onProgress: () => undefined,
      signal: new AbortController().signal,
    })
    return { text, ...summary }
  }

  test('writes JSON lines with all digits', async () => {
    const { text, documents } = await exported(undefined)
    assert.equal(documents, 2)
    assert.equal(
      text,
      '{"_id":1,"n":10000000000000000.10,"t":"a, \\"b\\""}\n' +
        '{"_id":2,"o":{"x":[1.0]},"t":null,"__proto__":true}\n',
    )
  })

  test('writes the chosen columns, and lists omitted fields', async () => {
    const { text, leftOut } = await exported(['_id', 'n', 't', 'o'])
    assert.equal(
      text,
      '_id,n,t,o\r\n1,10000000000000000.10,"a, ""b""",\r\n2,,,"{""x"":[1.0]}"\r\n',
    )
    assert.deepEqual([...leftOut], [['__proto__', 1]])
    assert.equal(writeRow(['', ' a', 'b\n']), ',\" a\",\"b\n\"\r\n')
  })
})
