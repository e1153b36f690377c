/** Request bodies: from bytes on a connection to a JSON value. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { JsonProblem, parseJson } from '../json/parse.ts'
import type { Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import { Unpacking, type Packing } from './compression.ts'

/** Reads a body as JSON; throws the ApiError that says why it is none. */
export function parseBody(bytes: Buffer, limits: Limits): Value {
  if (bytes.length === 0) throw emptyBody()
  if (!isUtf8(bytes))
    throw apiError('REQUEST_NOT_JSON', { problem: 'its bytes are not valid UTF-8' })
  const text = bytes.toString('utf8')
  try {
    return parseJson(text, {
      depthMax: limits.jsonDepthMax,
      numeralLengthMax: limits.numeralLengthMax,
    })
  } catch (problem) {
    if (!(problem instanceof JsonProblem)) throw problem
    throw explain(problem, text, limits)
  }
}

function explain(problem: JsonProblem, text: string, limits: Limits): ApiError {
  switch (problem.kind) {
    case 'syntax':
      return /^\s*$/.test(text)
        ? emptyBody()
        : apiError('REQUEST_NOT_JSON', { problem: problem.message })
    case 'depth':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: 'The depth of the JSON',
        actual: `over ${limits.jsonDepthMax}`,
        max: limits.jsonDepthMax,
      })
    case 'numeral':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: `The length of the number at offset ${problem.offset}`,
        actual: problem.numeralLength ?? `over ${limits.numeralLengthMax}`,
        max: limits.numeralLengthMax,
      })
  }
}

function emptyBody(): ApiError {
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command',
    value: '`null`',
    reason: 'the body is empty; send {"<command>": {<fields>}}',
  })
}

/**
 * The bodies that are arriving.
 *
 * Nobody has been identified while a body arrives, so what unfinished bodies may take
 * together is bounded: beyond that the one that has been arriving longest, which is most
 * likely the one that never ends, loses its connection.
 */
export class Arrivals {
  readonly #sizeMax: number
  readonly #arriving = new Set<Arrival>()
  readonly #unpacking = new Unpacking()
  #size = 0

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /**
   * All bytes, unpacked; or 'too large', 'damaged' when they cannot be unpacked, or 'broken'
   * when the client went away before the end.
   */
  receive(
    message: IncomingMessage,
    bodySizeMax: number,
    packing?: Packing,
  ): Promise<Received> {
    if (Number(message.headers['content-length']) > bodySizeMax)
      return Promise.resolve('too large')
    return new Promise((resolve) => {
      let chunks: Buffer[] = []
      let isWhole = false
      const arrival: Arrival = {
        message,
        size: 0,
        settle: (received) => {
          if (!this.#arriving.delete(arrival)) return
          this.#size -= arrival.size
          chunks = []
          resolve(received)
        },
      }
      this.#arriving.add(arrival)

      message.on('data', (chunk: Buffer) => {
        // The rest of a body that is too large is let in and dropped: as long as it is kept
        // from sending, a client may not read the answer.
        if (!this.#arriving.has(arrival)) return
        chunks.push(chunk)
        arrival.size += chunk.length
        this.#size += chunk.length
        if (arrival.size > bodySizeMax) arrival.settle('too large')
        else if (this.#size > this.#sizeMax) this.#dropOldest()
      })
      message.on('end', () => {
        isWhole = true
        if (!this.#arriving.has(arrival)) return
        const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
        if (packing === undefined) arrival.settle(bytes)
        // What is packed still counts while it waits for its turn.
        else void this.#unpacking.unpack(bytes, packing, bodySizeMax).then(arrival.settle)
      })
      message.on('close', () => {
        if (!isWhole) arrival.settle('broken')
      })
    })
  }

  #dropOldest(): void {
    const [oldest] = this.#arriving
    oldest?.settle('broken')
    oldest?.message.destroy()
  }
}

export type Received = Buffer | 'too large' | 'damaged' | 'broken'

interface Arrival {
  readonly message: IncomingMessage
  size: number
  /** Ends the arrival; only the first call counts. */
  readonly settle: (received: Received) => void
}
