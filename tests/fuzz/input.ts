/** What is sent to the server: a command in a sound request, or bytes as they are. */
import { processToken } from '../faults/server-process.ts'

export type Input = CommandInput | RawInput

/** A body that may be anything, in a request that is sound as HTTP. */
export interface CommandInput {
  readonly kind: 'command'
  /** What made it, for the counts. */
  readonly from: string
  /** The whole path, with its prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** What the body was printed from, where there is such a thing. */
  readonly tree?: unknown
}

export interface RawInput {
  readonly kind: 'raw'
  readonly from: string
  /** Sent one after the other, with a pause in between. */
  readonly parts: readonly Buffer[]
  /** What the client does after the last part. */
  readonly ending: Ending
}

/**
 * `wait`: listens for a while, then closes its half. `close`: closes its half at once.
 * `leave`: goes away without a word.
 */
export type Ending = 'wait' | 'close' | 'leave'

/** JSON that JavaScript has no value for: a numeral of many digits, half a character. */
export class Literal {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A tree of plain values and literals as JSON. */
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

/** An input as people can read it. */
export function showInput(input: Input): string {
  const text =
    input.kind === 'raw'
      ? Buffer.concat(input.parts).toString('latin1')
      : `${input.path} ${input.body.toString()}`
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text
}
