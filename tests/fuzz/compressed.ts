/** Commands with compressed bodies, valid and damaged. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Random } from '../faults/random.ts'
import { damageBytes } from './damage.ts'
import type { CommandInput } from './input.ts'

const codings = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const

type Coding = keyof typeof codings

const names = Object.keys(codings) as Coding[]

const oddNames = [
  'identity',
  'GZIP',
  'x-gzip',
  'gzip, gzip',
  'gzip,br',
  '',
  'compress',
  ' br ',
]

export function compress(random: Random, { path, body }: CommandInput): CommandInput {
  const coding = random.pick(names)
  const plain = random.oneIn(40) ? bomb : body
  const whole: Buffer = codings[coding](plain)
  return {
    kind: 'command',
    from: 'compressed',
    path,
    headers: {
      'Content-Encoding': random.oneIn(6) ? random.pick([...oddNames, ...names]) : coding,
      ...(random.oneIn(2) && { 'Accept-Encoding': random.pick([...names, ...wishes]) }),
    },
    body: random.oneIn(2) ? whole : damageBytes(whole, random),
  }
}

/** A body that compresses to a few bytes, but exceeds the maximum size when it is decompressed. */
const bomb = Buffer.alloc(30_000_000, ' ')

const wishes = [
  '*',
  'gzip;q=0, *',
  'br;q=1.0, gzip;q=0.5',
  'gzip;q=2',
  ';q=',
  'identity;q=0',
  ',,,',
]
