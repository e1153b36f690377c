/**
 * Bounds results for clients with a limit on message size. On standard output a message is one
 * line, and the official SDKs drop lines beyond 10 MiB.
 *
 * `stela mcp --stdio` sends the limit in a header. A result beyond the limit first loses its text
 * form. If it is still too large, its page of documents ends earlier, and the page state continues
 * after that page.
 */
import type { Limits } from '../limits.ts'

/** Header with the maximum size of a result in bytes. */
export const resultSizeHeader = 'stela-result-size-max'

/** Bytes that are reserved for the parts of a message other than data and status. */
const envelopeSize = 65_536

/** Maximum bytes of a UTF-16 code unit in UTF-8. */
const bytesPerCharacter = 3

/** Maximum bytes of data and status of a result; Infinity: no limit. */
export function resultSizeMax(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): number {
  const given = Number(headers[resultSizeHeader] ?? Infinity)
  return given > envelopeSize ? given - envelopeSize : Infinity
}

/**
 * Characters of documents after which a page ends, one value per attempt. The first attempt assumes
 * one byte per character, the second three. A page ends after the document that exceeds the value,
 * so the value leaves room for one document of maximum length.
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
