/**
 * Reads values from the stored text of a record. The values of a long text take up to a hundred
 * times as much memory as its characters, and the work on it is interrupted, so that many are
 * under way at a time. Memory for the values is therefore reserved first. A request that finds
 * none free waits.
 */
import type { Caller } from '../caller/caller.ts'
import { weigh } from '../json/weight.ts'
import { inTurns, type Steps } from '../runtime/steps.ts'

/** Characters up to which a text is looked into in one go. */
const shortLength = 65_536

/** Runs steps that make values of the text, and are done with them at their end. */
export function lookInto<T>(text: string, steps: Steps<T>, caller: Caller): T | Promise<T> {
  if (!isLong(text) || caller.borrow === undefined) return inTurns(steps, caller)
  return lookIntoLong(text, steps, caller)
}

async function lookIntoLong<T>(text: string, steps: Steps<T>, caller: Caller): Promise<T> {
  const giveBack = await borrowFor([[text]], caller)
  try {
    return await inTurns(steps, caller)
  } finally {
    giveBack()
  }
}

/** Memory for the values of one group of texts after the other, until it is given back. */
export function borrowFor(
  groups: readonly (readonly string[])[],
  caller: Caller,
): (() => void) | Promise<() => void> {
  return caller.borrow !== undefined && groups.some((texts) => texts.some(isLong))
    ? borrowForLong(groups, caller)
    : nothingToGiveBack
}

async function borrowForLong(
  groups: readonly (readonly string[])[],
  caller: Caller,
): Promise<() => void> {
  let most = 0
  for (const texts of groups) {
    let size = 0
    for (const text of texts)
      if (isLong(text)) size += (await inTurns(weigh(Buffer.from(text)), caller)).size
    most = Math.max(most, size)
  }
  return caller.borrow!(most)
}

function isLong(text: string): boolean {
  return text.length > shortLength
}

function nothingToGiveBack(): void {
  // Nothing was borrowed.
}
