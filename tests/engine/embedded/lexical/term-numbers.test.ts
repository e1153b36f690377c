import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TermNumbers } from '../../../../src/engine/embedded/lexical/term-numbers.ts'

test('term numbers return the numbers that were set, for terms of any characters', () => {
  const numbers = new TermNumbers()
  const expected = new Map<string, number>()
  for (let i = 1; i <= 40_000; i++) {
    const term = String.fromCharCode(i % 0xfff0) + i.toString(36)
    expected.set(term, 2 ** 32 - i)
    numbers.set(term, 2 ** 32 - i)
  }
  for (const [term, number] of expected) assert.equal(numbers.get(term), number)
  for (let i = 0; i < 1000; i++) assert.equal(numbers.get(`not ${i}`), 0)
})

test('term numbers distinguish terms with the same hash', () => {
  const numbers = new TermNumbers()
  // FNV-1a gives both terms the same hash.
  numbers.set('costarring', 1)
  assert.equal(numbers.get('liquid'), 0)
  numbers.set('liquid', 2)
  assert.equal(numbers.get('costarring'), 1)
  assert.equal(numbers.get('liquid'), 2)
})

test('term numbers accept at most 50 000 terms, and fewer than 3 000 terms of over 200 characters', () => {
  const few = new TermNumbers()
  const many = new TermNumbers()
  let added = 0
  for (; !few.isFull; added++) few.set(`${'x'.repeat(200)}${added}`, added + 1)
  assert.ok(added < 3000)
  for (added = 0; !many.isFull; added++) many.set(String(added), added + 1)
  assert.equal(added, 50_000)
  assert.equal(many.get('49999'), 50_000)
})

test('term numbers do not store a term of 1 000 characters', () => {
  const numbers = new TermNumbers()
  numbers.set('y'.repeat(1000), 1)
  assert.equal(numbers.get('y'.repeat(1000)), 0)
})
