/** Damages commands: their trees and their bytes. */
import type { Random } from '../faults/random.ts'
import {
  changeSomewhere,
  damageBranch,
  isBranch,
  pickNode,
  type Odd,
} from '../faults/tree-damage.ts'
import { oddKeys, oddValue } from './odd-values.ts'

const odd: Odd = { key: (random) => random.pick(oddKeys), value: oddValue }

/** Changes one part of a tree. Replacements may be parts of `other`. */
export function damageTree(tree: unknown, other: unknown, random: Random): unknown {
  return changeSomewhere(tree, 0, random, (node) => {
    if (random.oneIn(3)) return pickNode(other, random)
    if (!isBranch(node) || random.oneIn(4)) return oddValue(random)
    return damageBranch(node, random, odd)
  })
}

/** Texts that JSON parsers often mishandle. */
const snippets = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    '\\u12',
    '\\ud800',
    '\\x',
    '/*',
    '//',
    '\u0000',
  ],
  ...[
    'null',
    'NaN',
    'Infinity',
    '-',
    '+1',
    '01',
    '1.',
    '.5',
    '1e',
    '1e400',
    '0x1',
    "'",
    '`',
  ],
  ...[
    '\ufeff',
    '\u2028',
    '\r\n\r\n',
    '"a":1,"a":2',
    '"__proto__":{}',
    '{"$date":',
    ','.repeat(50),
  ],
]

const badUtf8 = ['ff', 'c3', 'c080', 'eda080', 'f4908080', 'e282', '80', 'fe', 'f8888080']

/** Changes, removes or adds a few bytes. */
export function damageBytes(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes
  for (let times = 1 + random.below(3); times > 0; times--)
    damaged = damageOnce(damaged, random)
  return damaged
}

function damageOnce(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + 1 + random.below(12))
  const put = (between: Buffer, to = at) =>
    Buffer.concat([bytes.subarray(0, at), between, bytes.subarray(to)])
  switch (random.below(9)) {
    case 0: {
      const flipped = Buffer.from(bytes)
      if (at < bytes.length) flipped[at]! ^= 1 << random.below(8)
      return flipped
    }
    case 1:
      return put(Buffer.alloc(0), end)
    case 2:
      return put(bytes.subarray(at, end))
    case 3:
      return put(Buffer.from(random.pick(snippets)))
    case 4:
      return put(Buffer.from(random.pick(snippets)), end)
    case 5:
      return put(Buffer.from(random.pick(badUtf8), 'hex'))
    case 6:
      return bytes.subarray(0, at)
    case 7:
      return removeToken(bytes, random)
    default:
      return put(
        Buffer.from(random.pick(['[', '{"a":', ' ', '9']).repeat(random.below(2_000))),
      )
  }
}

/** Removes or duplicates a token. */
function removeToken(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1')
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+|\s+|"/g) ?? []
  if (tokens.length === 0) return bytes
  const at = random.below(tokens.length)
  const changed = random.oneIn(2) ? [] : [tokens[at]!, tokens[at]!]
  return Buffer.from(tokens.toSpliced(at, 1, ...changed).join(''), 'latin1')
}
