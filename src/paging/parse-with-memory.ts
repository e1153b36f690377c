/**
 * Parses the stored text of a record. Parsed values take up to a hundred times the memory of their
 * text, and several requests interleave. Memory for the values is therefore reserved first, and a
 * request waits while too little memory is free.
 */
import type { Caller } from '../caller/caller.ts'
import { measureValues } from '../json/weight.ts'
import { inTurns, type Steps } from '../runtime/steps.ts'

/** Maximum characters of a text that is parsed without a reservation. */
const shortLength = 65_536

/**
 * Reserves memory, then runs steps that parse the text. They must not return the parsed values,
 * because the reservation ends with the steps.
 */
export function parseWithMemory<T>(
  text: string,
  steps: Steps<T>,
  caller: Caller,
): T | Promise<T> {
  if (!isLong(text) || caller.borrow === undefined) return inTurns(steps, caller)
  return parseLongWithMemory(text, steps, caller)
}

async function parseLongWithMemory<T>(
  text: string,
  steps: Steps<T>,
  caller: Caller,
): Promise<T> {
  const release = await reserveMemory([[text]], caller)
  try {
    return await inTurns(steps, caller)
  } finally {
    release()
  }
}

/** Reserves memory for the largest group: callers parse one group after the other. */
export function reserveMemory(
  groups: readonly (readonly string[])[],
  caller: Caller,
): (() => void) | Promise<() => void> {
  return caller.borrow !== undefined && groups.some((texts) => texts.some(isLong))
    ? reserveForLong(groups, caller)
    : nothingToRelease
}

async function reserveForLong(
  groups: readonly (readonly string[])[],
  caller: Caller,
): Promise<() => void> {
  let most = 0
  for (const texts of groups) {
    let size = 0
    for (const text of texts)
      if (isLong(text))
        size += (await inTurns(measureValues(Buffer.from(text)), caller)).size
    most = Math.max(most, size)
  }
  return caller.borrow!(most)
}

function isLong(text: string): boolean {
  return text.length > shortLength
}

function nothingToRelease(): void {
  // Short texts need no reservation.
}
