/**
 * What filters mean. Engines may answer a filter from their indexes in any way they like,
 * as long as the answer is the one given here.
 *
 * A filter is compiled when it is first asked, into one test for each condition and the
 * values that all conditions on a path ask for (wanted-values.ts). A document costs what it
 * holds at the paths of the filter plus the values of the filter, and never their product.
 * tests/language/plain-matches.ts says the same in the plainest way, condition by condition.
 */
import type { JsonObject, Value } from '../../json/value.ts'
import { defaultLimits } from '../../limits.ts'
import { atOnce, type Steps } from '../../runtime/steps.ts'
import type { Comparison } from './filter.ts'
import { compareValues, rank, rankOf, type Rank } from '../values/order.ts'
import type { Path } from '../values/path.ts'
import { valueAt } from '../values/value-at.ts'
import { WantedValues, type FoundValues } from './wanted-values.ts'

/** A Filter, or one on the elements of an array (element-filter.ts), which has a `not`. */
export type Matchable =
  Comparison | { readonly kind: 'and' | 'or' | 'not'; readonly of: readonly Matchable[] }

/** Whether the text at a path of the document that is asked about has all of some terms. */
export type HasTerms = (terms: readonly string[], path: string) => boolean

/**
 * `document` holds $vector, $vectorize and $lexical like any other field. Which terms its
 * text has only an analyzer or an index can say.
 */
export function matches(
  filter: Matchable,
  document: JsonObject,
  hasTerms: HasTerms = cannotTell,
): boolean {
  const answer = matchesInSteps(filter, document, hasTerms)
  return typeof answer === 'boolean' ? answer : atOnce(answer)
}

/** The same in steps, where the document has long arrays or objects to compare. */
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

/** Each time around, one more path was looked up. */
function* inSteps(test: Test, seen: SeenDocument): Steps<boolean> {
  for (;;) {
    yield* seen.settle()
    const answer = test(seen)
    if (!seen.isPending) return answer
  }
}

/**
 * What a filter makes each document cost beside its own size: the values that are asked for,
 * and places that are looked up, in the time that asking for a value takes.
 */
export function costOf(filter: Matchable): number {
  return known.get(filter)?.cost ?? costIn(filter)
}

/** `termsAt` analyzes the text at a path; it is asked once for each. */
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

/** A document that is asked about, and what was found in it. */
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

  /** Whether a path has to be looked up in steps before there is an answer. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** Undefined: it takes steps, and tests are asked again after these. */
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

/** While a path is pending, what a test returns means nothing. */
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

/** Following one segment of a path, in values that are asked for. */
const segmentCost = 8

/** What conditions look for, by path. */
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

/** Ends where a path is pending, so that nothing is done that has to be done again. */
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

/** An array equals a scalar that is one of its elements, null excepted. */
function equalTo(value: Value, values: WantedValues): Holds {
  const number = values.numberOf(value)
  if (number === -1) return () => false
  if (value === null || !isScalar(rankOf(value))) return ({ whole }) => whole === number
  return ({ whole, elements }) => whole === number || elements?.[number] === 1
}

/** As `equalTo` says, but a null in an array counts as well. */
function among(choices: readonly Value[], values: WantedValues): Holds {
  const numbers = new Set(choices.map((choice) => values.numberOf(choice)))
  const scalars = choices.filter((choice) => isScalar(rankOf(choice)))
  const elementNumbers = [...new Set(scalars.map((choice) => values.numberOf(choice)))]
  return ({ whole, elements }) =>
    (whole !== -1 && numbers.has(whole)) ||
    (elements !== undefined && elementNumbers.some((number) => elements[number] === 1))
}

/** A scalar counts as the only element of an array. */
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

/** Only values of one type, and of one that has an order, are less or greater. */
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
