/** Runs recipes over texts, as collections would. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPlain } from '../../../src/json/plain.ts'
import { defaultLimits } from '../../../src/limits.ts'
import { atOnce } from '../../../src/runtime/steps.ts'
import { analyzerFor } from '../../../src/search/lexical/analyzer.ts'
import { findAnalyzerProblem } from '../../../src/search/lexical/recipe.ts'

export type Args = Readonly<Record<string, string>>

/** What is wrong with a recipe, as a schema would be told. */
export function problemOf(recipe: unknown): string | undefined {
  return atOnce(findAnalyzerProblem(fromPlain(recipe), defaultLimits))
}

export function termsOf(recipe: unknown, text: string): readonly string[] {
  assert.equal(problemOf(recipe), undefined)
  return analyzerFor(recipe).terms(text)
}

export type Case = readonly [args: Args, text: string, terms: readonly string[]]

/** A test for one tokenizer. */
export function tokenizes(name: string, behaviour: string, cases: readonly Case[]): void {
  tests(`tokenizer ${name} ${behaviour}`, cases, (args) => ({ tokenizer: { name, args } }))
}

/** A test for one token filter, behind the whitespace tokenizer. */
export function filters(name: string, behaviour: string, cases: readonly Case[]): void {
  tests(`filter ${name} ${behaviour}`, cases, (args) => ({
    tokenizer: { name: 'whitespace' },
    filters: [{ name, args }],
  }))
}

/** A test for one char filter; the text stays whole. */
export function strips(name: string, behaviour: string, cases: readonly Case[]): void {
  tests(`char filter ${name} ${behaviour}`, cases, (args) => ({
    charFilters: [{ name, args }],
  }))
}

function tests(title: string, cases: readonly Case[], recipeOf: (args: Args) => unknown) {
  test(title, () => {
    for (const [args, text, terms] of cases)
      assert.deepEqual(
        termsOf(recipeOf(args), text),
        terms,
        JSON.stringify({ args, text: text.slice(0, 200) }),
      )
  })
}
