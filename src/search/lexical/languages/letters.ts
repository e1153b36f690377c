/** Rewrites single letters. Most normalizations are tables of such rewrites. */
import type { StemmerStep } from './endings.ts'

/**
 * A step from a table such as "áâ:a é:e": replaces the letters before a colon by the text after it,
 * or deletes the letters if that text is empty.
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

/** Reduces repeated letters to one. */
export function undouble(word: string): string {
  return word.replace(/(\p{L})\1+/gu, '$1')
}
