/**
 * Results for clients that can take only so many bytes. Over standard input and output a message
 * is one line, and the official SDKs drop lines beyond 10 MiB.
 *
 * `stela mcp --stdio` names the bound in a header. A result beyond it loses its text form first,
 * then documents: the page ends earlier, and its page state leads to the rest.
 */
import type { Limits } from '../limits.ts'

/** Names the bytes of a result that a client can take. */
export const resultSizeHeader = 'stela-result-size-max'

/** Bytes of a message that are neither data nor status. */
const envelopeSize = 65_536

/** A character is at most so many bytes of UTF-8. */
const bytesPerCharacter = 3

/** Bytes that the data and status of a result may take; Infinity: any number. */
export function resultSizeMax(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): number {
  const given = Number(headers[resultSizeHeader] ?? Infinity)
  return given > envelopeSize ? given - envelopeSize : Infinity
}

/**
 * The characters of documents after which a page ends, one value for each attempt: first for
 * texts of ASCII, then for any. The document that exceeds the bound is the last of its page.
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
