/**
 * Bounds results for clients with a limit on message size. On standard output a message is
 * one line, and the official SDKs drop lines beyond 10 MiB.
 *
 * `stela mcp --stdio` sends the bound in a header. A larger result first loses its text
 * form, then documents: the page ends earlier, and its page state continues after it.
 */
import type { Limits } from '../limits.ts'

/** Header with the maximum size of a result in bytes. */
export const resultSizeHeader = 'stela-result-size-max'

/** Bytes of a message besides data and status. */
const envelopeSize = 65_536

/** Maximum bytes of a UTF-16 unit in UTF-8. */
const bytesPerCharacter = 3

/** Maximum bytes of data and status of a result; Infinity: no limit. */
export function resultSizeMax(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): number {
  const given = Number(headers[resultSizeHeader] ?? Infinity)
  return given > envelopeSize ? given - envelopeSize : Infinity
}

/**
 * Characters of documents after which a page ends, one value per attempt: the first assumes
 * ASCII, the second the worst case. The document that exceeds the bound is the last of its
 * page.
 */
export function pageSizes(
  sizeMax: number,
  { documentLengthMax, replySizeMax }: Limits,
): readonly number[] {
  if (sizeMax === Infinity) return [replySizeMax]
  return [1, bytesPerCharacter].map((characterSize) => {
    const length = Math.floor(sizeMax / characterSize)
    return Math.min(replySizeMax, Math.max(1, length - documentLengthMax))
  })
}
