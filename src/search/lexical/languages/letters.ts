/** Rewriting single letters: most normalizations are a table of these. */
import type { StemmerStep } from './endings.ts'

/**
 * A step from a table such as "áâ:a é:e": letters before the colon become what is after it.
 * With nothing after the colon they are deleted.
 */
export function rewriting(table: string): StemmerStep {
  const rewritten = new Map(
    table.split(' ').flatMap((row) => {
      const [from = '', to = ''] = row.split(':')
      return Array.from(from, (letter) => [letter, to] as const)
    }),
  )
  const letters = new RegExp(`[${[...rewritten.keys()].join('')}]`, 'gu')
  return (word) => word.replace(letters, (letter) => rewritten.get(letter)!)
}

/** Says each repeated letter once. */
export function undouble(word: string): string {
  return word.replace(/(\p{L})\1+/gu, '$1')
}
