/**
 * Reference semantics of filters on documents. Engines may use indexes, but must return the same
 * results.
 *
 * A filter is compiled on first use: one test per condition and, for each path, the values that its
 * conditions compare (wanted-values.ts). The cost of a document is the size of its values at these
 * paths plus the number of values in the filter, never the product of both.
 * tests/language/plain-matches.ts defines the same semantics in the simplest way.
 */
import type { JsonObject, Value } from '../../json/value.ts'
import { defaultLimits } from '../../limits.ts'
import { atOnce, type Steps } from '../../runtime/steps.ts'
import type { Comparison } from './filter.ts'
import { compareValues, rank, rankOf, type Rank } from '../values/order.ts'
import type { Path } from '../values/path.ts'
import { valueAt } from '../values/value-at.ts'
import { WantedValues, type FoundValues } from './wanted-values.ts'

/**
 * A filter on documents, or a filter on array elements (element-filter.ts). Only the latter can
 * contain `not`.
 */
export type Matchable =
  Comparison | { readonly kind: 'and' | 'or' | 'not'; readonly of: readonly Matchable[] }

/** Whether the text at a path of the document contains all terms. */
export type HasTerms = (terms: readonly string[], path: string) => boolean

/**
 * Whether a document matches the filter. `document` contains $vector, $vectorize and $lexical as
 * ordinary fields. `hasTerms` answers $match: only an analyzer or an index knows the terms of a
 * text.
 */
export function matches(
  filter: Matchable,
  document: JsonObject,
  hasTerms: HasTerms = cannotTell,
): boolean {
  const answer = matchesInSteps(filter, document, hasTerms)
  return typeof answer === 'boolean' ? answer : atOnce(answer)
}

/** Like `matches`, but returns steps if the document has long arrays or objects to compare. */
export function matchesInSteps(
  filter: Matchable,
  document: JsonObject,
  hasTerms: HasTerms = cannotTell,
): boolean | Steps<boolean> {
  const { test, pathCount } = compiled(filter)
  const seen = new SeenDocument(document, hasTerms, pathCount)
  const answer = test(seen)
  return seen.isPending ? inSteps(test, seen) : answer
}

/**
 * Repeats the test until all paths that it needs have been looked up. Each round looks up one more
 * path.
 */
function* inSteps(test: Test, seen: SeenDocument): Steps<boolean> {
  for (;;) {
    yield* seen.settle()
    const answer = test(seen)
    if (!seen.isPending) return answer
  }
}

/**
 * Cost of the filter per document, in addition to the size of the document. The unit is one
 * compared value; lookups of paths are converted to this unit.
 */
export function costOf(filter: Matchable): number {
  return known.get(filter)?.cost ?? costIn(filter)
}

/** Tests texts for terms. `termsAt` analyzes the text at a path; it is called once per path. */
export function hasTermsIn(
  termsAt: (path: string) => readonly string[] | undefined,
): HasTerms {
  const known = new Map<string, ReadonlySet<string> | undefined>()
  return (terms, path) => {
    if (!known.has(path)) {
      const own = termsAt(path)
      known.set(path, own && new Set(own))
    }
    const own = known.get(path)
    return own !== undefined && terms.every((term) => own.has(term))
  }
}

function cannotTell(): never {
  throw new Error('a filter with $match needs the terms of a text')
}

/** A document that is being matched, with the values found in it so far. */
class SeenDocument {
  readonly document: JsonObject
  readonly hasTerms: HasTerms
  readonly #found: (FoundValues | undefined)[]
  #pending: { readonly number: number; readonly steps: Steps<FoundValues> } | undefined

  constructor(document: JsonObject, hasTerms: HasTerms, pathCount: number) {
    this.document = document
    this.hasTerms = hasTerms
    this.#found = pathCount === 0 ? [] : Array<undefined>(pathCount).fill(undefined)
  }

  /** Whether a path must be looked up in steps before the result is known. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** The values at a path. Undefined: the lookup takes steps, after which the test is repeated. */
  at({ number, path, values }: WantedPath): FoundValues | undefined {
    const known = this.#found[number]
    if (known !== undefined) return known
    const found = values.lookUp(valueAt(this.document, path))
    if ('whole' in found) return (this.#found[number] = found)
    this.#pending = { number, steps: found }
    return undefined
  }

  *settle(): Steps<void> {
    const { number, steps } = this.#pending!
    this.#found[number] = yield* steps
    this.#pending = undefined
  }
}

/**
 * Whether a condition holds for the document. The result is meaningless while a path is pending.
 */
type Test = (seen: SeenDocument) => boolean

interface WantedPath {
  readonly number: number
  readonly path: Path
  readonly values: WantedValues
}

interface Compiled {
  readonly test: Test
  readonly pathCount: number
  readonly cost: number
}

const known = new WeakMap<Matchable, Compiled>()

function compiled(filter: Matchable): Compiled {
  let found = known.get(filter)
  if (found === undefined) known.set(filter, (found = compile(filter)))
  return found
}

function compile(filter: Matchable): Compiled {
  const comparisons = comparisonsIn(filter)
  const wanted = wantedPaths(comparisons)
  return {
    test: testOf(filter, wanted),
    pathCount: wanted.size,
    cost: costIn(filter),
  }
}

function comparisonsIn(filter: Matchable): Comparison[] {
  return 'of' in filter ? filter.of.flatMap(comparisonsIn) : [filter]
}

function costIn(filter: Matchable): number {
  if ('of' in filter) return filter.of.reduce((cost, part) => cost + costIn(part), 0)
  const values = 'values' in filter ? filter.values.length : 1
  const { length } = filter.path.segments
  return values + segmentCost * Math.min(length, defaultLimits.documentDepthMax)
}

/** Cost of following one segment of a path, in units of one compared value. */
const segmentCost = 8

/** Values that the conditions compare, by path. */
function wantedPaths(comparisons: readonly Comparison[]): ReadonlyMap<string, WantedPath> {
  interface Gathered {
    readonly path: Path
    readonly values: Value[]
    readonly elements: Value[]
  }
  const gathered = new Map<string, Gathered>()
  for (const comparison of comparisons) {
    const { path } = comparison
    const values = lookedUpBy(comparison)
    if (values === undefined) continue
    const at = gathered.get(path.text) ?? { path, values: [], elements: [] }
    gathered.set(path.text, at)
    const isOfElements = comparison.kind === 'all' || comparison.kind === 'notAll'
    const list = isOfElements ? at.elements : at.values
    for (const value of values) list.push(value)
  }
  const wanted = new Map<string, WantedPath>()
  for (const [text, { path, values, elements }] of gathered)
    wanted.set(text, {
      number: wanted.size,
      path,
      values: new WantedValues(values, elements),
    })
  return wanted
}

function lookedUpBy(comparison: Comparison): readonly Value[] | undefined {
  switch (comparison.kind) {
    case 'eq':
    case 'ne':
      return [comparison.value]
    case 'in':
    case 'nin':
    case 'all':
    case 'notAll':
      return comparison.values
    default:
      return undefined
  }
}

function testOf(filter: Matchable, wanted: ReadonlyMap<string, WantedPath>): Test {
  switch (filter.kind) {
    case 'and':
      return every(filter.of.map((part) => testOf(part, wanted)))
    case 'or': {
      const none = every(filter.of.map((part) => not(testOf(part, wanted))))
      return not(none)
    }
    case 'not':
      return not(every(filter.of.map((part) => testOf(part, wanted))))
    default:
      return comparisonTest(filter, wanted)
  }
}

/**
 * A test that holds if all given tests hold. It stops at a path whose lookup is pending: the
 * tests are repeated after the lookup.
 */
function every(tests: readonly Test[]): Test {
  const [only] = tests
  if (tests.length === 1) return only!
  return (seen) => {
    for (const test of tests) if (!test(seen) || seen.isPending) return false
    return true
  }
}

function not(test: Test): Test {
  return (seen) => !test(seen)
}

function comparisonTest(
  comparison: Comparison,
  wanted: ReadonlyMap<string, WantedPath>,
): Test {
  const { path } = comparison
  const found = (holds: (at: FoundValues) => boolean): Test => {
    const place = wanted.get(path.text)!
    return (seen) => {
      const at = seen.at(place)
      return at !== undefined && holds(at)
    }
  }
  const stored = (holds: (value: Value | undefined) => boolean): Test => {
    return ({ document }) => holds(valueAt(document, path))
  }
  const values = wanted.get(path.text)?.values
  switch (comparison.kind) {
    case 'eq':
      return found(equalTo(comparison.value, values!))
    case 'ne':
      return not(found(equalTo(comparison.value, values!)))
    case 'in':
      return found(among(comparison.values, values!))
    case 'nin':
      return not(found(among(comparison.values, values!)))
    case 'all':
      return found(holdingAll(comparison.values, values!))
    case 'notAll':
      return not(found(holdingAll(comparison.values, values!)))
    case 'gt':
      return stored(ordered(comparison.value, (order) => order > 0))
    case 'gte':
      return stored(ordered(comparison.value, (order) => order >= 0))
    case 'lt':
      return stored(ordered(comparison.value, (order) => order < 0))
    case 'lte':
      return stored(ordered(comparison.value, (order) => order <= 0))
    case 'size':
      return stored((value) => hasSize(value, comparison.size))
    case 'notSize':
      return stored((value) => !hasSize(value, comparison.size))
    case 'exists':
      return stored((value) => (value !== undefined) === comparison.exists)
    case 'match': {
      const { terms } = comparison
      return ({ hasTerms }) => hasTerms(terms, path.text)
    }
  }
}

type Holds = (found: FoundValues) => boolean

/**
 * A test for equality with the value. An array equals each scalar among its elements, except null.
 */
function equalTo(value: Value, values: WantedValues): Holds {
  const number = values.numberOf(value)
  if (number === -1) return () => false
  if (value === null || !isScalar(rankOf(value))) return ({ whole }) => whole === number
  return ({ whole, elements }) => whole === number || elements?.[number] === 1
}

/**
 * A test for equality with one of the values. Unlike `equalTo`, it also matches a null within an
 * array.
 */
function among(choices: readonly Value[], values: WantedValues): Holds {
  const numbers = new Set(choices.map((choice) => values.numberOf(choice)))
  const scalars = choices.filter((choice) => isScalar(rankOf(choice)))
  const elementNumbers = [...new Set(scalars.map((choice) => values.numberOf(choice)))]
  return ({ whole, elements }) =>
    (whole !== -1 && numbers.has(whole)) ||
    (elements !== undefined && elementNumbers.some((number) => elements[number] === 1))
}

/**
 * A test that a value contains all required values. A scalar counts as an array with one element.
 */
function holdingAll(required: readonly Value[], values: WantedValues): Holds {
  const numbers = [...new Set(required.map((value) => values.numberOf(value)))]
  if (numbers.includes(-1)) return () => false
  const only =
    numbers.length === 1 && isScalar(rankOf(required[0])) ? numbers[0]! : undefined
  return ({ whole, elements }) =>
    elements === undefined
      ? whole !== -1 && whole === only
      : numbers.every((number) => elements[number] === 1)
}

/** A test for a range. Only values of the same ordered type are less or greater than each other. */
function ordered(
  value: Value,
  holds: (order: number) => boolean,
): (stored: Value | undefined) => boolean {
  const type = rankOf(value)
  if (type === rank.null || !isScalar(type)) return () => false
  return (stored) => rankOf(stored) === type && holds(compareValues(stored, value))
}

function hasSize(stored: Value | undefined, size: number): boolean {
  return Array.isArray(stored) && stored.length === size
}

function isScalar(type: Rank): boolean {
  return type >= rank.null && type <= rank.date
}
