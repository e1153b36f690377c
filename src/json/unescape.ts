/** Decodes the content of a JSON string. */
import * as charCodes from './char-codes.ts'
import { JsonProblem } from './json-problem.ts'

// Constants are copied as in parse.ts, because access to imported constants is slow.
const { BACKSLASH, LOWER_U, SPACE } = charCodes

const escapes: ReadonlyMap<number, string> = new Map(
  Object.entries({
    '"': '"',
    '\\': '\\',
    '/': '/',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
  }).map(([letter, meaning]) => [letter.charCodeAt(0), meaning]),
)

/** Minimum characters of a string for which native functions are faster. */
export const longPieceLength = 128

/** Whether the piece contains no escapes or control characters. */
export function isPlain(piece: string): boolean {
  return !/[\0-\x1f\\]/.test(piece)
}

/**
 * Decodes part of a string. If JSON.parse rejects the part, it is scanned here to report the exact
 * error.
 */
export function unescape(text: string, from: number, to: number): string {
  if (to - from >= longPieceLength)
    try {
      return JSON.parse(`"${text.slice(from, to)}"`) as string
    } catch {
      // The loop below reports the error.
    }
  let decoded = ''
  let plainFrom = from
  for (let at = from; at < to;) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) {
      decoded += text.slice(plainFrom, at) + readEscape(text, at)
      at += text.charCodeAt(at + 1) === LOWER_U ? 6 : 2
      plainFrom = at
    } else if (code >= SPACE) {
      at++
    } else {
      const written = JSON.stringify(String.fromCharCode(code)).slice(1, -1)
      throw syntax(`a control character in a string must be written ${written}`, at)
    }
  }
  return decoded + text.slice(plainFrom, to)
}

function readEscape(text: string, at: number): string {
  const code = at + 1 < text.length ? text.charCodeAt(at + 1) : -1
  if (code === LOWER_U) {
    const hex = text.slice(at + 2, at + 6)
    if (!/^[0-9a-f]{4}$/i.test(hex))
      throw syntax('\\u must be followed by four hexadecimal digits', at)
    return String.fromCharCode(parseInt(hex, 16))
  }
  const meaning = escapes.get(code)
  if (meaning === undefined)
    throw syntax('a backslash must start a JSON escape such as \\n or \\u0041', at)
  return meaning
}

function syntax(what: string, offset: number): JsonProblem {
  return new JsonProblem(what, { kind: 'syntax', offset })
}
