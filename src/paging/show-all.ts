import type { Caller } from '../caller/caller.ts'
import { CommaList, type LongText } from '../json/long-text.ts'
import type { Steps } from '../runtime/steps.ts'
import { parseWithMemory } from './parse-with-memory.ts'

/** The text of a record, or its stored text and the steps that convert it. */
export type Shown = string | { readonly text: string; readonly steps: Steps<string> }

/**
 * Joins JSON texts with commas and yields to other requests meanwhile. Empties the list, so
 * that a record and its text are not both in memory.
 */
export async function showAll<T>(
  found: T[],
  show: (one: T) => Shown,
  caller: Caller,
): Promise<LongText> {
  const list = new CommaList()
  found.reverse()
  while (found.length > 0) {
    const text = showOne(show(found.pop()!), caller)
    list.add(typeof text === 'string' ? text : await text)
    const pause = caller.pause()
    if (pause !== undefined) await pause
  }
  return list.text()
}

export function showOne(shown: Shown, caller: Caller): string | Promise<string> {
  return typeof shown === 'string'
    ? shown
    : parseWithMemory(shown.text, shown.steps, caller)
}
