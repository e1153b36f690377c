import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textLog } from '../../src/runtime/text-log.ts'

function print(record: object): string {
  let printed = ''
  const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
  textLog((text) => (printed += text)).write(`${JSON.stringify({ time, ...record })}\n`)
  return printed
}

describe('a log record as text', () => {
  test('is one line with time, level, message and key=value', () => {
    assert.equal(
      print({
        level: 40,
        msg: 'Slow command',
        command: 'find',
        ms: 1200,
        plan: { lead: 'a b' },
      }),
      '2026-01-02T03:04:05.678Z WARN Slow command command=find ms=1200 plan={"lead":"a b"}\n',
    )
  })

  test('quotes a value that contains a space, an equals sign or a quote', () => {
    const line = print({ level: 30, msg: 'm', a: 'x y', b: 'k=v', c: '"', d: '' })
    assert.match(line, / a="x y" b="k=v" c="\\"" d=""\n$/)
  })

  test('has the stack of an error on the following lines', () => {
    const err = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at f (a.ts:1)' }
    assert.match(
      print({ level: 50, msg: 'Failed', err }),
      / ERROR Failed error="?boom"?\n {4}at f \(a\.ts:1\)\n$/,
    )
  })

  test('escapes control characters, so that a client cannot add lines or colours', () => {
    const line = print({ level: 30, msg: 'a\n2026 INFO \x1b[31mb', user: '\x9b1m' })
    assert.equal(line.split('\n').length, 2)
    assert.doesNotMatch(line, /[\x1b\x9b]/)
    assert.match(line, /a\\u000a2026 INFO \\u001b\[31mb user="\\u009b1m"/)
  })
})
