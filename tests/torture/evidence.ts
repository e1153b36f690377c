/** Reports of damage: by `stela check`, by the server's log, by a repair, by a refusal to start. */
import type { Difference } from './survey.ts'
import type { CommandResult } from './stela-command.ts'

export interface Report {
  readonly by: 'check' | 'log' | 'repair' | 'refusal'
  readonly text: string
}

/** Error codes that report damaged data. */
const damageCodes: ReadonlySet<string> = new Set([
  'STORED_DATA_DAMAGED',
  'FAILED_READ_REQUEST',
  'DOCUMENT_FROM_DB_UNPARSEABLE',
  'CORRUPTED_COLLECTION_SCHEMA',
])

const damageWords =
  /damag|corrupt|malformed|disk image|not a database|checksum|lost|missing|behind|older|earlier|truncat|cut off|cannot be (?:read|opened|used|trusted)|could not (?:read|be read)|unparseable|quarantin/i

/** Findings of `stela check`, each with its section. */
export function findingsOf({ out }: CommandResult): Report[] {
  const reports: Report[] = []
  let section = ''
  for (const line of out.split('\n')) {
    const isFinding = line.startsWith('  ') && !line.startsWith('  note:')
    if (isFinding) reports.push({ by: 'check', text: `${section}: ${line.trim()}` })
    else section = line.replace(/: .*$/, '')
  }
  return reports
}

/** Lines of the server's log that report damage. */
export function warningsOf(lines: readonly string[]): Report[] {
  return lines.filter((line) => damageWords.test(line)).map((text) => ({ by: 'log', text }))
}

export function linesOf(by: Report['by'], text: string): Report[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ by, text: line }))
}

/** The report that explains a difference; undefined: it was not reported. */
export function explanationOf(
  { place, error }: Difference,
  reports: readonly Report[],
): Report | undefined {
  if (error !== undefined && damageCodes.has(error.code))
    return { by: 'refusal', text: `${error.code}: ${error.message}` }
  const names = [place, place.replace('.', '/'), 'catalog']
  const mention = new RegExp(
    names.map((name) => `(?<![\\w.])${RegExp.escape(name)}(?!\\w)`).join('|'),
  )
  return reports.find(({ text }) => mention.test(text))
}

/** Whether the text has a stack trace: an error that the program does not handle. */
export function isCrash(text: string): boolean {
  return /^\s+at .+:\d+:\d+\)?$/m.test(text)
}
