/**
 * Data that an earlier version has written: a data folder, a backup, exports, and `answers.jsonl`.
 * The repository contains it as a folder in one compressed file. The first line of `answers.jsonl`
 * lists the objects that the management API created. Each other line is a request with its reply.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Access, Told } from './client.ts'
import type { Request } from './story.ts'

/**
 * The versions that have a fixture. Version 0.1 writes store format 2, and 0.2 writes store format
 * 3.
 */
export const versions = ['0.1', '0.2'] as const
export type Version = (typeof versions)[number]

export function isVersion(text: string | undefined): text is Version {
  return (versions as readonly (string | undefined)[]).includes(text)
}

export function packedFile(version: Version): URL {
  return new URL(`written-by-${version}.br`, import.meta.url)
}

export const answersFile = 'answers.jsonl'

/** The administrator token of all versions in these tests. */
export const storyToken = 'story-token'

/** The collections and tables that are exported, each to a file. */
export const exported = [
  ['collection', 'everything'],
  ['table', 'every'],
  ['table', 'wide'],
  ['table', 'key_vector'],
] as const

/** Packs the files of a folder: a line of names and sizes, then the bytes of all files. */
export function pack(folder: string): Buffer {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = names
    .filter((name) => statSync(join(folder, name)).isFile() && !name.endsWith('-shm'))
    .map((name) => [name, readFileSync(join(folder, name))] as const)
  const sizes = files.map(([name, bytes]) => [name, bytes.length])
  const whole = [
    Buffer.from(`${JSON.stringify(sizes)}\n`),
    ...files.map(([, bytes]) => bytes),
  ]
  return brotliCompressSync(Buffer.concat(whole), {
    // A large window, because stores of different collections contain similar bytes.
    params: { [constants.BROTLI_PARAM_LGWIN]: 24 },
  })
}

export function unpack(version: Version, folder: string): void {
  const whole = brotliDecompressSync(readFileSync(packedFile(version)))
  let at = whole.indexOf('\n') + 1
  for (const [name, size] of JSON.parse(whole.toString('utf8', 0, at)) as [
    string,
    number,
  ][]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), whole.subarray(at, (at += size)))
  }
}

export function readAnswers(folder: string): {
  readonly access: Access
  readonly answers: readonly (readonly [Request, Told])[]
} {
  const [first, ...rest] = readFileSync(join(folder, answersFile), 'utf8')
    .trimEnd()
    .split('\n')
  return {
    access: JSON.parse(first!) as Access,
    answers: rest.map((line) => JSON.parse(line) as [Request, Told]),
  }
}
