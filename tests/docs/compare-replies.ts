/** Compares replies of a server with the replies on a page. */
import assert from 'node:assert/strict'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'

/**
 * Compact JSON, with placeholders for ids of errors and page states, which differ each time.
 */
export function anonymous(json: string): string {
  return printJson(parseStored(json))
    .replace(/"id":"[0-9a-f-]{36}"/g, '"id":"…"')
    .replace(/"nextPageState":"[^"]*"/g, '"nextPageState":"…"')
}

/**
 * Asserts that replies are equal. Scores of a model may differ by 0.05, because their last digits
 * depend on the processor.
 */
export function assertAlike(actual: string, expected: string): void {
  const score = /(?<="\$(?:similarity|vector|rerank)":)[\d.]+/g
  assert.equal(actual.replace(score, '…'), expected.replace(score, '…'))
  const numbers = [...actual.matchAll(score)].map(([number]) => Number(number))
  for (const [i, [number]] of [...expected.matchAll(score)].entries())
    assert(Math.abs(numbers[i]! - Number(number)) < 0.05, `${number} in ${expected}`)
}
