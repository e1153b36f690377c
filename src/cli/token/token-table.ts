/** Prints tokens as a table, one line each. */
import type { KnownToken, NamedRole } from './token-keeper.ts'

const header = ['ID', 'ROLES', 'CREATED', 'EXPIRES', 'DESCRIPTION']

export function tokenTable(
  tokens: readonly KnownToken[],
  roles: readonly NamedRole[],
  now = Date.now(),
): string {
  const rows = tokens.map((token) => [
    token.id,
    token.roles.map((id) => roleName(id, roles)).join(', '),
    shortTime(token.createdAt),
    expiryText(token.expiresAt, now),
    printable(token.description ?? ''),
  ])
  const all = [header, ...rows]
  const widths = header.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

export function roleName(id: string, roles: readonly NamedRole[]): string {
  return printable(roles.find((role) => role.id === id)?.name ?? id)
}

function expiryText(expiresAt: string | undefined, now: number): string {
  if (expiresAt === undefined) return 'never'
  const time = shortTime(expiresAt)
  return Date.parse(expiresAt) <= now ? `expired ${time}` : time
}

/**
 * A time in UTC to the minute. Returns "unknown" for the year 1970: tokens of version 0.1 have no
 * creation time.
 */
function shortTime(iso: string): string {
  return iso.startsWith('1970-') ? 'unknown' : iso.slice(0, 16) + 'Z'
}

/** Replaces terminal control characters by spaces. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}
