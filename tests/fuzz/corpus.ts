/**
 * The corpus: one input per file of corpus/, either a former finding or a case chosen by hand.
 * A file contains either a command or the bytes of a connection:
 *
 *     { "why": …, "path": "/v1/open/plain", "headers"?: {…}, "body": {"find": {}} }
 *     { "why": …, "path": "/v1/open/plain", "text": ["{", {"times": 9, "of": "["}] }
 *     { "why": …, "raw": ["GET / HTTP/1.1\r\n…"], "ending"?: "close" }
 *
 * `text` is a body of invalid JSON or one with repeated parts; `raw` has one character per
 * byte (Latin-1). `before` may list commands, as {path, body}, that are sent first.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { processToken } from '../faults/server-process.ts'
import {
  commandInput,
  Literal,
  type CommandInput,
  type Ending,
  type Input,
} from './input.ts'

const folder = new URL('corpus/', import.meta.url)

export interface Kept {
  readonly name: string
  readonly why: string
  readonly before: readonly CommandInput[]
  readonly input: Input
}

type Text = readonly (string | { readonly times: number; readonly of: string })[]

interface Entry {
  readonly why: string
  readonly before?: readonly { readonly path: string; readonly body: object }[]
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly text?: Text
  readonly raw?: Text
  readonly ending?: Ending
}

export function readCorpus(): readonly Kept[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => {
      const entry = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Entry
      return {
        name: file.replace(/\.json$/, ''),
        why: entry.why,
        before: (entry.before ?? []).map(({ path, body }) =>
          commandInput('corpus', path, body),
        ),
        input: inputOf(entry),
      }
    })
}

function inputOf({ path, headers = {}, body, text, raw, ending = 'wait' }: Entry): Input {
  if (raw !== undefined)
    return {
      kind: 'raw',
      from: 'corpus',
      parts: [Buffer.from(join(raw), 'latin1')],
      ending,
    }
  if (text !== undefined)
    return {
      kind: 'command',
      from: 'corpus',
      path: path!,
      headers,
      body: Buffer.from(join(text)),
    }
  return commandInput('corpus', path!, body, headers)
}

function join(text: Text): string {
  return text
    .map((part) => (typeof part === 'string' ? part : part.of.repeat(part.times)))
    .join('')
}

/** Saves an input in the corpus, in a file whose name is derived from the finding. */
export async function keep(why: string, input: Input): Promise<string> {
  const name = why
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const file = new URL(`${name}.json`, folder)
  const options = { parser: 'json', ...(await resolveConfig(file)) }
  writeFileSync(file, await format(JSON.stringify(entryOf(why, input)), options))
  return `tests/fuzz/corpus/${name}.json`
}

function entryOf(why: string, input: Input): Entry {
  if (input.kind === 'raw')
    return {
      why,
      raw: [Buffer.concat(input.parts).toString('latin1')],
      ...(input.ending !== 'wait' && { ending: input.ending }),
    }
  const { path, headers } = input
  const where = { why, path, ...(Object.keys(headers).length > 0 && { headers }) }
  if (input.tree !== undefined && !hasLiteral(input.tree))
    return { ...where, body: input.tree }
  const text = input.body.toString()
  if (Buffer.from(text).equals(input.body)) return { ...where, text: [text] }
  // A body of invalid UTF-8 is saved as a raw request.
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nToken: ${processToken}\r\nContent-Length: ${input.body.length}\r\n\r\n`
  return { why, raw: [head + input.body.toString('latin1')] }
}

function hasLiteral(tree: unknown): boolean {
  if (tree instanceof Literal) return true
  return typeof tree === 'object' && tree !== null && Object.values(tree).some(hasLiteral)
}
