/**
 * Checks an analyzer that a schema asks for against the catalogue.
 *
 * {"charFilters": [...], "tokenizer": {"name": "standard"}, "filters": [{"name": "stop",
 * "args": {"words": "the, a"}}]}; null members count as absent, arguments are texts.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import {
  builtInAnalyzers,
  charFilters,
  tokenFilters,
  tokenizers,
  type ArgumentType,
  type Component,
} from './analyzers.ts'
import { ArgumentProblem } from './arguments.ts'
import {
  makeCharFilter,
  makeTokenFilter,
  makeTokenizer,
  type Make,
  type Makers,
} from './components.ts'
import { fixedLimits } from '../../limits.ts'

const { analyzerFiltersMax, analyzerArgumentLengthMax } = fixedLimits

export const defaultAnalyzer = 'standard'

/** Says what is wrong with an analyzer; undefined: nothing. */
export function findAnalyzerProblem(analyzer: Value): string | undefined {
  if (typeof analyzer === 'string') return findNameProblem(analyzer)
  if (isObject(analyzer)) return findRecipeProblem(analyzer)
  return (
    `analyzer is of type ${jsonTypeOf(analyzer)}, but is the name of a built-in analyzer ` +
    'or an Object with a tokenizer and filters'
  )
}

/** Whether two checked analyzers, as plain data, do the same: names have no case. */
export function isSameAnalyzer(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(canonical(one), canonical(other))
}

function findNameProblem(name: string): string | undefined {
  if (builtInAnalyzers.includes(name.toLowerCase())) return undefined
  return `there is no analyzer "${name}". There are: ${builtInAnalyzers.join(', ')}`
}

const recipeMembers = ['tokenizer', 'filters', 'charFilters']

function findRecipeProblem(recipe: JsonObject): string | undefined {
  for (const name of recipe.keys())
    if (!recipeMembers.includes(name))
      return `analyzer does not know "${name}". It has: ${recipeMembers.join(', ')}`
  const tokenizer = recipe.get('tokenizer') ?? undefined
  const charFilterList = recipe.get('charFilters') ?? []
  const filterList = recipe.get('filters') ?? []
  if (!Array.isArray(charFilterList)) return notAnArray('charFilters', charFilterList)
  if (!Array.isArray(filterList)) return notAnArray('filters', filterList)
  if (tokenizer === undefined && charFilterList.length === 0 && filterList.length === 0)
    return 'analyzer names no tokenizer and no filter. It needs at least one of them'
  if (charFilterList.length + filterList.length > analyzerFiltersMax)
    return `analyzer has more than ${analyzerFiltersMax} filters`
  return (
    firstProblem(charFilterList, charFilterKind) ??
    firstProblem(tokenizer === undefined ? [] : [tokenizer], tokenizerKind) ??
    firstProblem(filterList, tokenFilterKind)
  )
}

interface Kind {
  readonly what: string
  readonly known: readonly Component[]
  readonly make: Makers<unknown>
}

const charFilterKind: Kind = {
  what: 'char filter',
  known: charFilters,
  make: makeCharFilter,
}
const tokenizerKind: Kind = { what: 'tokenizer', known: tokenizers, make: makeTokenizer }
const tokenFilterKind: Kind = {
  what: 'token filter',
  known: tokenFilters,
  make: makeTokenFilter,
}

function notAnArray(member: string, value: Value): string {
  return `${member} of analyzer is of type ${jsonTypeOf(value)}, but is an Array`
}

function firstProblem(list: Value[], kind: Kind) {
  for (const given of list) {
    const problem = findComponentProblem(given, kind)
    if (problem !== undefined) return problem
  }
  return undefined
}

function findComponentProblem(
  given: Value,
  { what, known, make }: Kind,
): string | undefined {
  if (!isObject(given))
    return `a ${what} of analyzer is of type ${jsonTypeOf(given)}, but is an Object`
  for (const member of given.keys())
    if (member !== 'name' && member !== 'args')
      return `a ${what} of analyzer does not know "${member}". It has: name, args`
  const name = given.get('name') ?? undefined
  if (typeof name !== 'string') return `a ${what} of analyzer needs a name, a String`
  const component = known.find(
    (candidate) => candidate.name.toLowerCase() === name.toLowerCase(),
  )
  if (component === undefined)
    return (
      `there is no ${what} "${name}". ` +
      `There are: ${known.map((candidate) => candidate.name).join(', ')}`
    )
  const args = given.get('args') ?? new Map<string, Value>()
  if (!isObject(args))
    return `args of the ${what} "${name}" is of type ${jsonTypeOf(args)}, but is an Object`
  const where = `the ${what} "${name}"`
  return (
    findArgumentProblem(args, component, where) ??
    findMakingProblem(make.get(name.toLowerCase())!, args, where)
  )
}

function findArgumentProblem(
  args: JsonObject,
  component: Component,
  where: string,
): string | undefined {
  const types = new Map(Object.entries({ ...component.required, ...component.optional }))
  for (const [name, value] of args) {
    const type = types.get(name)
    if (type === undefined)
      return `${where} does not take "${name}". It takes: ${
        types.size === 0 ? 'no arguments' : [...types.keys()].join(', ')
      }`
    if (typeof value !== 'string')
      return `"${name}" of ${where} is of type ${jsonTypeOf(value)}, but is a String`
    if (value.length > analyzerArgumentLengthMax)
      return `"${name}" of ${where} has more than ${analyzerArgumentLengthMax} characters`
    if (!argumentPatterns[type].test(value))
      return `"${name}" of ${where} cannot be "${value}". It is: ${type}`
  }
  for (const name of Object.keys(component.required ?? {}))
    if (!args.has(name)) return `${where} needs "${name}" in its args`
  return undefined
}

/** What only shows when the component is made: patterns, ranges, entries of lists. */
function findMakingProblem(
  make: Make<unknown>,
  args: JsonObject,
  where: string,
): string | undefined {
  try {
    make(args as Map<string, string>)
    return undefined
  } catch (error) {
    if (error instanceof ArgumentProblem) return `${where}: ${error.message}`
    throw error
  }
}

const argumentPatterns: Readonly<Record<ArgumentType, RegExp>> = {
  text: /^/,
  integer: /^-?\d{1,9}$/,
  count: /^\d{1,9}$/,
  'true or false': /^(?:true|false)$/i,
  '0 or 1': /^[01]$/,
}

type PlainRecipe = Readonly<Record<string, PlainComponent | PlainComponent[] | null>>

interface PlainComponent {
  readonly name: string
  readonly args?: Readonly<Record<string, string>> | null
}

function canonical(analyzer: unknown): unknown {
  if (typeof analyzer === 'string') return analyzer.toLowerCase()
  if (typeof analyzer !== 'object' || analyzer === null) return analyzer
  const recipe = analyzer as PlainRecipe
  return recipeMembers.map((member) =>
    [recipe[member] ?? []]
      .flat()
      .map(({ name, args }) => ({ name: name.toLowerCase(), args: args ?? {} })),
  )
}
