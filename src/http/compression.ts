/**
 * Bodies that are packed: replies for clients that accept it, and requests of clients that
 * do it. All of it happens on threads of Node's own, never on the one that answers.
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

/** For replies, the better one first. */
const encodings = ['zstd', 'br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/** Bytes of a reply that are worth the work. */
export const packedSizeMin = 1_024

/** How responses are to be packed; absent: not at all. */
const chosen = new WeakMap<ServerResponse, Encoding>()

/** Takes note of what the client accepts, for when its response is sent. */
export function offerPacking(request: IncomingMessage, response: ServerResponse): void {
  response.appendHeader('Vary', 'Accept-Encoding')
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  if (encoding !== undefined) chosen.set(response, encoding)
}

export function encodingOf(response: ServerResponse): Encoding | undefined {
  return chosen.get(response)
}

/** What the client likes best of these; undefined when that is the body as it is. */
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
    // The body as it is wins only where the client says that it likes it better.
    const isBetter = best === undefined ? weight >= bestWeight : weight > bestWeight
    if (weight === 0 || !isBetter) continue
    best = encoding
    bestWeight = weight
  }
  return best
}

/** The value of a parameter `q`; empty: it is another, or has none. */
function givenWeight(parameter: string): string {
  const end = parameter.indexOf('=')
  const name = parameter.slice(0, Math.max(end, 0)).trim()
  return name.toLowerCase() === 'q' ? parameter.slice(end + 1).trim() : ''
}

/** An invalid weight counts as 0: an uncompressed body is always acceptable. */
function weightOf(text: string | undefined): number {
  if (text === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
}

/** Fast rather than small: what is spent here is missing elsewhere. */
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
    // A window of 8 MB is the largest that HTTP is to use; more would be asked for only to
    // have the memory taken.
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

/** How a request's body is packed. Undefined: it is not. */
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

  /** The body as it was before; unpacking stops where it turns out to be larger. */
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
