/**
 * Validates the analyzer of a schema against the catalog.
 *
 * {"charFilters": [...], "tokenizer": {"name": "standard"}, "filters": [{"name": "stop", "args":
 * {"words": "the, a"}}]}; null members count as absent, and arguments are strings.
 */
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import {
  builtInAnalyzers,
  charFilters,
  tokenFilters,
  tokenizers,
  type ArgumentType,
  type Component,
} from './analyzers.ts'
import { toPlain } from '../../json/plain.ts'
import { AnalyzerTooLarge } from '../../errors/analyzer-too-large.ts'
import { fixedLimits, type Limits } from '../../limits.ts'
import type { Steps } from '../../runtime/steps.ts'
import { loadAnalyzer } from './analyzer.ts'
import { ArgumentProblem } from './arguments.ts'
import { keyOf } from './definition.ts'

const { analyzerFiltersMax, patternLengthMax } = fixedLimits

/** Limits of a definition. */
export type AnalyzerLimits = Pick<Limits, 'analyzerLengthMax' | 'analyzerEntriesMax'>

export const defaultAnalyzer = 'standard'

/** Validates and compiles an analyzer; returns the problem, or undefined if it is valid. */
export function* findAnalyzerProblem(
  analyzer: Value,
  limits: AnalyzerLimits,
): Steps<string | undefined> {
  if (typeof analyzer === 'string') return findNameProblem(analyzer)
  if (isObject(analyzer))
    return (
      findRecipeProblem(analyzer, limits) ?? (yield* findMakingProblem(toPlain(analyzer)))
    )
  return (
    `analyzer is of type ${jsonTypeOf(analyzer)}, but must be the name of a built-in ` +
    'analyzer or an Object with a tokenizer and filters'
  )
}

/** Whether two validated analyzers are equivalent; names are case-insensitive. */
export function isSameAnalyzer(one: unknown, other: unknown): boolean {
  return keyOf(one) === keyOf(other)
}

function findNameProblem(name: string): string | undefined {
  if (builtInAnalyzers.includes(name.toLowerCase())) return undefined
  return `there is no analyzer "${name}". Analyzers: ${builtInAnalyzers.join(', ')}`
}

const recipeMembers = ['tokenizer', 'filters', 'charFilters']

function findRecipeProblem(recipe: JsonObject, limits: AnalyzerLimits): string | undefined {
  for (const name of recipe.keys())
    if (!recipeMembers.includes(name))
      return `analyzer has no member "${name}". Members: ${recipeMembers.join(', ')}`
  const tokenizer = recipe.get('tokenizer') ?? undefined
  const charFilterList = recipe.get('charFilters') ?? []
  const filterList = recipe.get('filters') ?? []
  if (!Array.isArray(charFilterList)) return notAnArray('charFilters', charFilterList)
  if (!Array.isArray(filterList)) return notAnArray('filters', filterList)
  if (tokenizer === undefined && charFilterList.length === 0 && filterList.length === 0)
    return `analyzer has neither a tokenizer nor a filter. It must have at least one of them`
  if (charFilterList.length + filterList.length > analyzerFiltersMax)
    return `analyzer has more than ${analyzerFiltersMax} filters, the maximum`
  const checker = new ComponentChecker(limits)
  return (
    checker.firstProblem(charFilterList, charFilterKind) ??
    checker.firstProblem(tokenizer === undefined ? [] : [tokenizer], tokenizerKind) ??
    checker.firstProblem(filterList, tokenFilterKind)
  )
}

interface Kind {
  readonly what: string
  readonly known: readonly Component[]
}

const charFilterKind: Kind = { what: 'char filter', known: charFilters }
const tokenizerKind: Kind = { what: 'tokenizer', known: tokenizers }
const tokenFilterKind: Kind = { what: 'token filter', known: tokenFilters }

function notAnArray(member: string, value: Value): string {
  return `${member} of analyzer is of type ${jsonTypeOf(value)}, but must be an Array`
}

/** Validates the components of one analyzer, and adds up their size. */
class ComponentChecker {
  readonly #limits: AnalyzerLimits
  #length = 0
  #entries = 0

  constructor(limits: AnalyzerLimits) {
    this.#limits = limits
  }

  firstProblem(list: Value[], kind: Kind): string | undefined {
    for (const given of list) {
      const problem = this.#findComponentProblem(given, kind)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  #findComponentProblem(given: Value, { what, known }: Kind): string | undefined {
    if (!isObject(given))
      return `a ${what} of analyzer is of type ${jsonTypeOf(given)}, but must be an Object`
    for (const member of given.keys())
      if (member !== 'name' && member !== 'args')
        return `a ${what} of analyzer has no member "${member}". Members: name, args`
    const name = given.get('name') ?? undefined
    if (typeof name !== 'string')
      return `a ${what} of analyzer requires a name, which is a String`
    const component = known.find(
      (candidate) => candidate.name.toLowerCase() === name.toLowerCase(),
    )
    if (component === undefined)
      return (
        `there is no ${what} "${name}". Available: ` +
        known.map((candidate) => candidate.name).join(', ')
      )
    const args = given.get('args') ?? new Map<string, Value>()
    if (!isObject(args))
      return (
        `args of the ${what} "${name}" is of type ${jsonTypeOf(args)}, but must be an ` +
        'Object'
      )
    return this.#findArgumentProblem(args, component, `the ${what} "${name}"`)
  }

  #findArgumentProblem(
    args: JsonObject,
    component: Component,
    where: string,
  ): string | undefined {
    const types = new Map(Object.entries({ ...component.required, ...component.optional }))
    for (const [name, value] of args) {
      const type = types.get(name)
      if (type === undefined)
        return `${where} has no argument "${name}". Arguments: ${
          types.size === 0 ? 'none' : [...types.keys()].join(', ')
        }`
      if (typeof value !== 'string')
        return `"${name}" of ${where} is of type ${jsonTypeOf(value)}, but must be a String`
      const problem =
        this.#findLengthProblem(value, type, `"${name}" of ${where}`) ??
        this.#findEntriesProblem(value, type, `"${name}" of ${where}`)
      if (problem !== undefined) return problem
      if (!argumentPatterns[type].test(value))
        return `"${name}" of ${where} cannot be "${value}". It must be ${type}`
    }
    for (const name of Object.keys(component.required ?? {}))
      if (!args.has(name)) return `${where} requires "${name}" in its args`
    return undefined
  }

  #findLengthProblem(
    { length }: string,
    type: ArgumentType,
    where: string,
  ): string | undefined {
    if (type === 'pattern' && length > patternLengthMax)
      return (
        `${where} has ${length} characters; the maximum of a pattern is ` +
        `${patternLengthMax}`
      )
    this.#length += length
    const max = this.#limits.analyzerLengthMax
    if (this.#length <= max) return undefined
    return (
      `${where} has ${length} characters, ${this.#length} in total with the other ` +
      `arguments of analyzer; the maximum is ${max}`
    )
  }

  #findEntriesProblem(list: string, type: ArgumentType, where: string): string | undefined {
    if (type !== 'list') return undefined
    const entries = countEntries(list)
    this.#entries += entries
    const max = this.#limits.analyzerEntriesMax
    if (this.#entries <= max) return undefined
    return (
      `${where} has ${entries} entries, ${this.#entries} in total with the other lists ` +
      `of analyzer; the maximum is ${max}`
    )
  }
}

/**
 * Number of entries of a list. It counts separators, so that the limit is checked before the list
 * is parsed.
 */
function countEntries(list: string): number {
  let count = 1
  for (let at = 0; at < list.length; at++) {
    const char = list.charCodeAt(at)
    if (char === comma || char === lineFeed || char === carriageReturn) count++
  }
  return count
}

const comma = 0x2c
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Problems that only compiling the recipe detects: in patterns, ranges, and entries of lists. */
function* findMakingProblem(recipe: unknown): Steps<string | undefined> {
  try {
    const loading = loadAnalyzer(recipe)
    if (loading !== undefined) yield* loading
    return undefined
  } catch (error) {
    if (error instanceof ArgumentProblem || error instanceof AnalyzerTooLarge)
      return error.message
    throw error
  }
}

const argumentPatterns: Readonly<Record<ArgumentType, RegExp>> = {
  text: /^/,
  list: /^/,
  pattern: /^/,
  integer: /^-?\d{1,9}$/,
  count: /^\d{1,9}$/,
  'true or false': /^(?:true|false)$/i,
  '0 or 1': /^[01]$/,
}
