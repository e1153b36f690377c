/**
 * Compares compiled filters with the plain definition of filters, and counts the steps that they
 * take for a document.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import type { Comparison, Filter } from '../../src/language/filters/filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { hasTermsIn, matches, matchesInSteps } from '../../src/language/filters/matches.ts'
import { pathOf, Random, randomFields, randomFilter, seed, times } from '../model/random.ts'
import { plainMatches } from './plain-matches.ts'

const everyPath = indexingRule(undefined)

/** Repeats the elements of arrays until the arrays are so long that they are searched in steps. */
function lengthened(document: JsonObject, random: Random): JsonObject {
  const longer = (value: Value) =>
    Array.isArray(value) && value.length > 0 && random.chance(0.5)
      ? Array.from({ length: random.integer(500, 600) }, () => random.pick(value))
      : value
  return new Map([...document].map(([name, value]) => [name, longer(value)]))
}

/**
 * Replaces operands by values of the document, so that whole objects and long arrays can be equal.
 */
function withValuesOf(filter: Filter, document: JsonObject, random: Random): Filter {
  if ('of' in filter)
    return { ...filter, of: filter.of.map((part) => withValuesOf(part, document, random)) }
  const held = [...document.values()].flatMap((value) =>
    Array.isArray(value) ? [value, ...value.slice(0, 3)] : [value],
  )
  const swapped = (value: Value) => {
    if (held.length === 0 || random.chance(0.5)) return value
    const text = printJson(random.pick(held))
    // Filters with binary operands are rejected, so a value with binary data does not replace an
    // operand.
    return text.includes('$binary') ? value : parseStored(text)
  }
  switch (filter.kind) {
    case 'eq':
    case 'ne':
      return { ...filter, value: swapped(filter.value) }
    case 'in':
    case 'nin':
    case 'all':
    case 'notAll':
      return { ...filter, values: filter.values.map(swapped) }
    default:
      return filter
  }
}

describe('a compiled filter', () => {
  test(`gives the same results as the plain definition (seed ${seed})`, () => {
    const random = new Random(seed)
    let matched = 0
    let stepped = 0
    for (let run = 0; run < 4_000 * times; run++) {
      const shape = { nested: 0.45, scalars: random.integer(3, 30), fields: 5 }
      const short = randomFields(random, shape)
      const document = random.chance(0.5) ? lengthened(short, random) : short
      const of = random.list(1, 4, () => randomFilter(random, shape, everyPath))
      const drawn: Filter = { kind: random.chance(0.5) ? 'and' : 'or', of }
      const filter = withValuesOf(drawn, document, random)
      const expected = plainMatches(filter, document)
      if (expected) matched++
      if (typeof matchesInSteps(filter, document) !== 'boolean') stepped++
      // The second evaluation must not depend on state of the first.
      for (const time of ['first', 'second'])
        if (matches(filter, document) !== expected)
          assert.fail(`${time}: ${printJson(document)} by ${inspect(filter, { depth: 9 })}`)
    }
    assert(matched > 200, `${matched} matched`)
    // On average, 27 of 4 000 filters take steps. Fewer than six take steps in only one of a
    // million runs.
    assert(stepped > 5, `${stepped} took steps`)
  })

  test('distinguishes numbers that are close to each other, in any order', () => {
    const random = new Random(seed)
    const values = Array.from({ length: 300 }, () => random.integer(-500, 500) / 4)
    const choice: Filter = { kind: 'in', path: pathOf('a'), values }
    for (let eighths = -1_100; eighths < 1_100; eighths++) {
      const document = new Map<string, Value>([['a', eighths / 8]])
      assert.equal(matches(choice, document), plainMatches(choice, document))
    }
    const zero: Filter = { kind: 'eq', path: pathOf('a'), value: 0 }
    assert(matches(zero, new Map([['a', -0]])))
  })

  test('requests the terms of a text once, whatever the number of conditions', () => {
    const path = pathOf('$lexical')
    const conditions = ['x', 'y', 'x y'].map((text): Comparison => {
      return { kind: 'match', path, terms: text.split(' '), text }
    })
    let analyzed = 0
    const hasTerms = hasTermsIn(() => {
      analyzed++
      return ['x', 'y', 'z']
    })
    assert(matches({ kind: 'and', of: conditions }, new Map(), hasTerms))
    assert.equal(analyzed, 1)
  })
})

describe('the steps of comparing a document', () => {
  const path = pathOf('a')
  const numbers = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => from + n)
  /** A filter whose conditions all hold, so that every condition is evaluated. */
  const allOf = (count: number): Filter => ({
    kind: 'and',
    of: [
      ...numbers(0, count - 1).map((): Comparison => {
        return { kind: 'all', path, values: numbers(1, 100) }
      }),
      { kind: 'nin', path, values: [0] },
    ],
  })
  const stepsOver = (filter: Filter, array: Value[]): number => {
    const document = new Map<string, Value>([['a', array]])
    const answer = matchesInSteps(filter, document)
    if (typeof answer === 'boolean') return 0
    let steps = 0
    for (let step = answer.next(); step.done !== true; step = answer.next()) steps++
    return steps
  }

  test('grow with the elements of the document, and not with the number of conditions', () => {
    const array = numbers(1, 100_000)
    const one = stepsOver(allOf(1), array)
    assert(one >= 100_000 / 500, `${one} steps`)
    assert.equal(stepsOver(allOf(64), array), one)
  })

  test('are not needed for a short array', () => {
    assert.equal(stepsOver(allOf(64), numbers(1, 400)), 0)
  })

  test('interrupt the comparison of one large object or array', () => {
    const nested = () => numbers(0, 1_000).map(() => numbers(0, 200) as Value[])
    const values = nested()
    const filter: Filter = { kind: 'and', of: [{ kind: 'ne', path, value: values }] }
    const steps = stepsOver(filter, nested())
    assert(steps > 100, `${steps} steps`)
    assert(!matches(filter, new Map([['a', nested()]])))
  })

  test('interrupt a comparison with many objects in an array', () => {
    const objects = () =>
      numbers(0, 400).map((n): Value => new Map([['n', numbers(n, 100) as Value[]]]))
    const filter: Filter = { kind: 'all', path, values: objects() }
    assert(stepsOver(filter, objects()) > 10)
    assert(matches(filter, new Map([['a', objects()]])))
  })

  test('skip objects and arrays with a different number of members', () => {
    const filter: Filter = { kind: 'eq', path, value: [1, 2] }
    assert.equal(stepsOver(filter, [numbers(0, 1_000), 2, 3] as Value[]), 0)
  })
})
