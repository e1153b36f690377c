/** An input of the fuzzer: a command in a valid HTTP request, or raw bytes. */
import { processToken } from '../faults/server-process.ts'

export type Input = CommandInput | RawInput

/** A valid HTTP request with any body. */
export interface CommandInput {
  readonly kind: 'command'
  /** Name of the generator, for statistics. */
  readonly from: string
  /** The complete path with its prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The tree from which the body was printed, if any. */
  readonly tree?: unknown
}

export interface RawInput {
  readonly kind: 'raw'
  readonly from: string
  /** The bytes to send, in order, with a pause after each part. */
  readonly parts: readonly Buffer[]
  /** How the client ends the connection after the last part. */
  readonly ending: Ending
}

/**
 * The client's action after the last part. `wait`: reads for a while, then closes its half of the
 * connection. `close`: closes its half at once. `leave`: destroys the connection.
 */
export type Ending = 'wait' | 'close' | 'leave'

/**
 * JSON that no JavaScript value represents: a numeral with many digits, or half of a surrogate
 * pair.
 */
export class Literal {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Serializes a tree of plain values and literals as JSON. */
export function printTree(tree: unknown): string {
  if (tree instanceof Literal) return tree.text
  if (Array.isArray(tree)) return `[${tree.map(printTree).join(',')}]`
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree ?? null)
  const members = Object.entries(tree)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${printTree(value)}`)
  return `{${members.join(',')}}`
}

export function commandInput(
  from: string,
  path: string,
  tree: unknown,
  headers: Readonly<Record<string, string>> = {},
): CommandInput {
  return { kind: 'command', from, path, headers, tree, body: Buffer.from(printTree(tree)) }
}

/** The bytes of a command's request. */
export function requestOf(input: CommandInput, requestId: string): Buffer {
  const headers = {
    Host: 'x',
    Token: processToken,
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
    'Content-Length': String(input.body.length),
    ...input.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${input.path} HTTP/1.1\r\n${lines.join('')}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), input.body])
}

/** A readable form of an input. */
export function showInput(input: Input): string {
  const text =
    input.kind === 'raw'
      ? Buffer.concat(input.parts).toString('latin1')
      : `${input.path} ${input.body.toString()}`
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text
}
