/**
 * Compressed bodies: replies for clients that accept them, and requests. (De)compression runs
 * on Node's thread pool, never on the main thread.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliDecompress,
  constants,
  gunzip,
  gzip,
  inflate,
  zstdCompress,
  zstdDecompress,
} from 'node:zlib'
import { fixedLimits } from '../limits.ts'

/** Encodings of replies, in order of preference. */
const encodings = ['zstd', 'br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/** Replies of fewer bytes are not compressed. */
export const packedSizeMin = 1_024

/** The encoding of each response; absent: uncompressed. */
const chosen = new WeakMap<ServerResponse, Encoding>()

/** Chooses the encoding of the response from the client's Accept-Encoding header. */
export function offerPacking(request: IncomingMessage, response: ServerResponse): void {
  response.appendHeader('Vary', 'Accept-Encoding')
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  if (encoding !== undefined) chosen.set(response, encoding)
}

export function encodingOf(response: ServerResponse): Encoding | undefined {
  return chosen.get(response)
}

/** The accepted encoding with the greatest weight. Undefined: the body is not compressed. */
export function chooseEncoding(
  accepted: string | string[] | undefined,
  offered: readonly Encoding[] = encodings,
): Encoding | undefined {
  if (accepted === undefined) return undefined
  const weights = new Map<string, number>()
  for (const entry of String(accepted).split(',')) {
    const [name = '', ...parameters] = entry.split(';')
    const weight = parameters.map(givenWeight).find((text) => text !== '')
    weights.set(name.trim().toLowerCase(), weightOf(weight))
  }
  const weigh = (name: string) =>
    weights.get(name) ?? (name === 'gzip' ? weights.get('x-gzip') : undefined)
  const others = weights.get('*') ?? 0
  let best: Encoding | undefined
  let bestWeight = weights.get('identity') ?? 0
  for (const encoding of offered) {
    const weight = weigh(encoding) ?? others
    // A compressed body is preferred to an uncompressed body of equal weight.
    const isBetter = best === undefined ? weight >= bestWeight : weight > bestWeight
    if (weight === 0 || !isBetter) continue
    best = encoding
    bestWeight = weight
  }
  return best
}

/** The value of the parameter `q`; empty for other parameters. */
function givenWeight(parameter: string): string {
  const end = parameter.indexOf('=')
  const name = parameter.slice(0, Math.max(end, 0)).trim()
  return name.toLowerCase() === 'q' ? parameter.slice(end + 1).trim() : ''
}

/**
 * The weight in the text of a parameter; an absent weight counts as 1. An invalid weight counts as
 * 0: an uncompressed body is always acceptable.
 */
function weightOf(text: string | undefined): number {
  if (text === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
}

/**
 * Compresses a body with the fastest level of the encoding: processor time matters more than size.
 */
export function pack(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const { ZSTD_c_compressionLevel, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } =
    constants
  switch (encoding) {
    case 'zstd':
      return promisify(zstdCompress)(body, { params: { [ZSTD_c_compressionLevel]: 1 } })
    case 'br':
      return promisify(brotliCompress)(body, {
        params: { [BROTLI_PARAM_QUALITY]: 3, [BROTLI_PARAM_SIZE_HINT]: body.length },
      })
    case 'gzip':
      return promisify(gzip)(body, { level: 1 })
  }
}

const unpackers = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: (bytes: Buffer, options: Bounds) =>
    // The largest window that HTTP permits, 8 MB. A larger one would only let clients allocate
    // more memory.
    promisify(zstdDecompress)(bytes, {
      ...options,
      params: { [constants.ZSTD_d_windowLogMax]: 23 },
    }),
} satisfies Record<string, (bytes: Buffer, options: Bounds) => Promise<Buffer>>

interface Bounds {
  readonly maxOutputLength: number
  readonly chunkSize: number
}

export type Packing = keyof typeof unpackers

export const packings: readonly string[] = Object.keys(unpackers)

/** The encoding of a request's body; undefined: uncompressed. */
export function packingOf(
  contentEncoding: string | undefined,
): Packing | 'unknown' | undefined {
  const name = contentEncoding?.trim().toLowerCase()
  if (name === undefined || name === '' || name === 'identity') return undefined
  return Object.hasOwn(unpackers, name) ? (name as Packing) : 'unknown'
}

export class Unpacking {
  #free = fixedLimits.unpackingMax
  readonly #waiting: (() => void)[] = []

  /** Decompresses a body; stops when the result exceeds `sizeMax`. */
  async unpack(
    bytes: Buffer,
    packing: Packing,
    sizeMax: number,
  ): Promise<Buffer | 'too large' | 'damaged'> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await unpackers[packing](bytes, { maxOutputLength: sizeMax, chunkSize })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'damaged'
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

const chunkSize = 65_536
