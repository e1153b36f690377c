import type { Level } from '../commands/define.ts'

/** What a command is sent to, from the path of its request. */
export interface Address {
  readonly level: Level
  /** Empty where the level has none. */
  readonly keyspace: string
  readonly name: string
}

const shortPrefix = '/v1'
const longPrefix = '/api/json/v1'

/** The address that a URL stands for; undefined when commands cannot be sent there. */
export function addressOf(url: string): Address | undefined {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  const prefix = path.startsWith(shortPrefix) ? shortPrefix : longPrefix
  if (!path.startsWith(prefix)) return undefined
  const rest = path.endsWith('/')
    ? path.slice(prefix.length, -1)
    : path.slice(prefix.length)
  if (rest === '') return { level: 'general', keyspace: '', name: '' }
  const [before, keyspace, name, ...more] = rest.split('/')
  if (before !== '' || keyspace === '' || name === '' || more.length > 0) return undefined
  try {
    return {
      level: name === undefined ? 'keyspace' : 'target',
      keyspace: decode(keyspace!),
      name: name === undefined ? '' : decode(name),
    }
  } catch {
    return undefined
  }
}

function decode(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment) : segment
}
