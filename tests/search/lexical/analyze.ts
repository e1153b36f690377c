/** Runs analyzers on texts, as collections do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPlain } from '../../../src/json/plain.ts'
import { defaultLimits } from '../../../src/limits.ts'
import { atOnce } from '../../../src/runtime/steps.ts'
import { analyzerFor } from '../../../src/search/lexical/analyzer.ts'
import { findAnalyzerProblem } from '../../../src/search/lexical/recipe.ts'

export type Args = Readonly<Record<string, string>>

/**
 * The error of an analyzer definition, as createCollection reports it; undefined if it is valid.
 */
export function problemOf(recipe: unknown): string | undefined {
  return atOnce(findAnalyzerProblem(fromPlain(recipe), defaultLimits))
}

export function termsOf(recipe: unknown, text: string): readonly string[] {
  assert.equal(problemOf(recipe), undefined)
  return analyzerFor(recipe).terms(text)
}

export type Case = readonly [args: Args, text: string, terms: readonly string[]]

/** Registers a test of a tokenizer, with texts and their expected tokens. */
export function tokenizes(name: string, behaviour: string, cases: readonly Case[]): void {
  tests(`tokenizer ${name} ${behaviour}`, cases, (args) => ({ tokenizer: { name, args } }))
}

/** Registers a test of a token filter. The whitespace tokenizer splits the texts. */
export function filters(name: string, behaviour: string, cases: readonly Case[]): void {
  tests(`filter ${name} ${behaviour}`, cases, (args) => ({
    tokenizer: { name: 'whitespace' },
    filters: [{ name, args }],
  }))
}

/** Registers a test of a char filter. The whole text becomes one token. */
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
