/**
 * Parses the stored text of a record. Values take up to a hundred times the memory of their
 * text, and several requests interleave, so memory for the values is reserved first. A
 * request waits while none is free.
 */
import type { Caller } from '../caller/caller.ts'
import { weigh } from '../json/weight.ts'
import { inTurns, type Steps } from '../runtime/steps.ts'

/** Characters up to which a text is parsed without a reservation. */
const shortLength = 65_536

/** Runs steps that create values of the text and release them when they end. */
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

/** Reserves memory for the largest group: callers parse one group after the other. */
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
  // Short texts need no reservation.
}
