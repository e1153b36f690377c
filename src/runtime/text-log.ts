/**
 * Prints log records as text for people at a terminal: the time, the level, the message, and the
 * other members as key=value.
 */
interface LogRecord {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly err?: { readonly message?: string; readonly stack?: string }
}

/** Names of the levels by their numbers in the JSON form. */
const levels = new Map([
  [20, 'DEBUG'],
  [30, 'INFO'],
  [40, 'WARN'],
  [50, 'ERROR'],
])

/** A stream for the logger. It converts each record, a line of JSON, and passes it on. */
export function textLog(write: (text: string) => void): { write(line: string): void } {
  return { write: (line) => write(printRecord(JSON.parse(line) as LogRecord)) }
}

function printRecord({ level, time, msg = '', err, ...members }: LogRecord): string {
  const at = new Date(time).toISOString()
  const entries = Object.entries({
    ...members,
    ...(err !== undefined && { error: err.message ?? 'unknown' }),
  })
  const line = [at, levels.get(level) ?? String(level), msg, ...entries.map(printEntry)]
  // The stack is the only part with lines of its own, because it cannot be read in one line.
  const stack = err?.stack?.split('\n').slice(1) ?? []
  return `${[line.join(' '), ...stack].map(withoutControls).join('\n')}\n`
}

function printEntry([key, value]: [string, unknown]): string {
  const isPlain = typeof value === 'string' && /^[\w.,:;/@+*()[\]-]+$/.test(value)
  return `${key}=${isPlain ? value : JSON.stringify(value)}`
}

/**
 * Escapes control characters, because a client chooses parts of some records, and a terminal
 * interprets these characters.
 */
function withoutControls(text: string): string {
  return text.replace(
    /[\0-\x1f\x7f-\x9f\u2028\u2029]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
