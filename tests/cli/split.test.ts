/** Splitting an input into records gives the same result for any chunk boundaries. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readCells } from '../../src/cli/records/csv.ts'
import { splitterFor, type Format, type RawRecord } from '../../src/cli/records/split.ts'

function split(format: Format, text: string, cuts: readonly number[] = []): RawRecord[] {
  const bytes = Buffer.from(text)
  const splitter = splitterFor(format, 1000)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  )
  let from = 0
  const records = ends.flatMap((end) => {
    const chunk = bytes.subarray(from, end)
    from = end
    return splitter.push(chunk)
  })
  return [...records, ...splitter.end()]
}

function shown(records: readonly RawRecord[]): string[] {
  return records.map(
    ({ line, bytes, problem }) =>
      `${line}: ${String(bytes)}${problem === undefined ? '' : ` (${problem})`}`,
  )
}

describe('splitting an input', () => {
  test('into lines skips empty lines', () => {
    assert.deepEqual(shown(split('jsonl', 'a\r\n\n \nb\nc')), ['1: a', '4: b', '5: c'])
    assert.deepEqual(shown(split('jsonl', '')), [])
  })

  for (const [text, records] of [
    ['[]', []],
    [' [ \n ] \n', []],
    ['[1]', ['1: 1']],
    ['[1,\n"a,]",\n\n{"b":[1,2]}]', ['1: 1', '2: \n"a,]"', '4: \n\n{"b":[1,2]}']],
    ['[1,]', ['1: 1', '1:  (a value is missing before or after a comma)']],
    ['[,1]', ['1:  (a value is missing before or after a comma)', '1: 1']],
    ['[1', ['1: 1 (the input ends inside the array)']],
    ['[1]\n[2]', ['1: 1', '2:  (text follows the array; it is ignored)']],
    ['["\\"]"]', ['1: "\\"]"']],
  ] as const)
    test(`that is the array ${JSON.stringify(text)} gives ${records.length} records`, () => {
      assert.deepEqual(shown(split('json', text)), records)
    })

  test('reports records that are too large, and continues', () => {
    const long = 'x'.repeat(2000)
    for (const [format, text] of [
      ['jsonl', `a\n${long}\nb`],
      ['json', `["a",\n"${long}",\n"b"]`],
      ['csv', `a\n${long}\nb`],
    ] as const) {
      const records = split(format, text, [500, 900, 1500])
      assert.equal(records.length, 3)
      assert.equal(records[1]!.line, 2)
      assert.match(records[1]!.problem!, /the maximum of a request is 1000/)
      assert.equal(records[2]!.problem, undefined)
    }
  })

  test('gives the same records for any chunk boundaries', () => {
    const text = fc
      .array(fc.constantFrom('a', ',', '"', '\n', '\r\n', '[', ']', '{', '}', '\\', 'é'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        fc.constantFrom<Format>('jsonl', 'json', 'csv'),
        text,
        fc.array(fc.nat(60)),
        (format, text, cuts) => {
          const whole = format === 'json' ? `[${text}` : text
          assert.deepEqual(shown(split(format, whole, cuts)), shown(split(format, whole)))
        },
      ),
    )
  })
})

describe('CSV', () => {
  test('with quoted cells is read back unchanged', () => {
    const row = fc.array(
      fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é') }),
      {
        minLength: 1,
      },
    )
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (rows) => {
        const text = rows
          .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
          .join('\r\n')
        const read = split('csv', text).map(({ bytes }) => readCells(String(bytes)))
        assert.deepEqual(read, rows)
      }),
    )
  })
})
