/** Parses IPv4 and IPv6 addresses; never resolves names. */
import type { Value } from '../../json/value.ts'

export function readInet(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value.toLowerCase() === 'localhost') return '127.0.0.1'
  if (!value.includes(':')) {
    const address = readV4(value)
    return address === undefined ? undefined : printV4(address)
  }
  const groups = readV6(value)
  if (groups === undefined) return undefined
  return isMapped(groups)
    ? printV4(groups[6]! * 2 ** 16 + groups[7]!)
    : groups.map((group) => group.toString(16)).join(':')
}

/** The bytes of the address in hexadecimal. */
export function comparableInet(stored: Value): string {
  const text = stored as string
  return text.includes(':')
    ? text
        .split(':')
        .map((group) => group.padStart(4, '0'))
        .join('')
    : readV4(text)!.toString(16).padStart(8, '0')
}

/**
 * Parses an IPv4 address as a number. As in the C function inet_aton, the last part covers all
 * remaining bytes: 127.1 is 127.0.0.1.
 */
function readV4(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length > 4 || !parts.every((part) => v4Part.test(part))) return undefined
  const last = Number(parts.pop())
  if (last >= 256 ** (4 - parts.length)) return undefined
  let address = 0
  for (const part of parts) {
    if (Number(part) > 255) return undefined
    address = address * 256 + Number(part)
  }
  return address * 256 ** (4 - parts.length) + last
}

/**
 * A part of an IPv4 address. Leading zeros are not allowed, because some software reads such parts
 * as octal.
 */
const v4Part = /^(?:0|[1-9]\d{0,9})$/

function printV4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

const groupCount = 8

/** Reads eight groups of 16 bits. */
function readV6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(readGroups)
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  if (tail === undefined) return head.length === groupCount ? head : undefined
  // An IPv4 address is permitted only at the end, so it cannot precede "::".
  if (halves[0]!.includes('.')) return undefined
  const gap = groupCount - head.length - tail.length
  if (gap < 1) return undefined
  return [...head, ...Array.from({ length: gap }, () => 0), ...tail]
}

/** The groups on one side of "::". */
function readGroups(text: string): number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const last = parts.at(-1)!
  const groups: number[] = []
  if (last.includes('.')) {
    const address = last.split('.').length === 4 ? readV4(last) : undefined
    if (address === undefined) return undefined
    parts.pop()
    groups.push(address >>> 16, address & 0xffff)
  }
  if (!parts.every((part) => v6Group.test(part))) return undefined
  groups.unshift(...parts.map((part) => parseInt(part, 16)))
  return groups.length <= groupCount ? groups : undefined
}

const v6Group = /^[0-9a-f]{1,4}$/i

/** Whether the groups are an IPv4-mapped address: ::ffff:a.b.c.d is a.b.c.d. */
function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
}
