/** Replaces strings by others everywhere in a text; the longest match wins. */
import { ArgumentProblem, entriesIn, pairIn } from '../arguments.ts'
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { TextBuilder } from '../text-builder.ts'
import type { Arguments, CharFilter } from '../stage.ts'
import { fixedLimits } from '../../../limits.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'

const { mappingLengthMax } = fixedLimits

export function* mapping(args: Arguments): Steps<CharFilter> {
  const root: Branch = {}
  const pace = new Pace()
  for (const entry of yield* entriesIn(args.get('mapping') ?? '')) {
    if (pace.isDue()) yield
    addEntry(root, entry)
  }
  return (text, steps) => {
    const made = new TextBuilder(steps)
    let kept = 0
    let at = 0
    while (at < text.length) {
      const found = longestAt(root, text, at, steps)
      if (found === undefined) at++
      else {
        made.add(text.slice(kept, at))
        made.add(found.replacement)
        at += found.length
        kept = at
      }
    }
    made.add(text.slice(kept))
    return made.toString()
  }
}

/** A trie of strings, one character per level. */
interface Branch {
  next?: Map<string, Branch>
  replacement?: string
}

function addEntry(root: Branch, entry: string): void {
  const quoted = /^"(?:[^"\\]|\\[^])*"/.exec(entry)?.[0] ?? ''
  const sides = pairIn(entry.slice(quoted.length))
  const from = sides && unquoted(quoted + sides[0])
  if (!from)
    throw new ArgumentProblem(
      `"mapping" has "${entry}", but an entry must have the form "ph" => "f", with quotes`,
    )
  if (from.length > mappingLengthMax)
    throw new ArgumentProblem(
      `"mapping" has a text of ${from.length} characters; the maximum is ${mappingLengthMax}`,
    )
  let branch = root
  for (const char of from.split('')) {
    branch.next ??= new Map()
    let next = branch.next.get(char)
    if (next === undefined) branch.next.set(char, (next = {}))
    branch = next
  }
  branch.replacement = unquoted(sides[1])
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
}

/** One side of a mapping without its optional quotes, and with its escapes decoded. */
function unquoted(text: string): string {
  const bare = /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text
  return bare.replace(/\\(?:u([0-9a-f]{4})|([^]))/giu, (_, hex?: string, char?: string) =>
    hex === undefined
      ? (escapes[char!] ?? char!)
      : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function longestAt(root: Branch, text: string, start: number, steps: StepBudget) {
  let branch: Branch | undefined = root
  let found: { readonly length: number; readonly replacement: string } | undefined
  for (let length = 0; branch !== undefined; length++) {
    if (branch.replacement !== undefined)
      found = { length, replacement: branch.replacement }
    steps.take(2)
    branch = branch.next?.get(text[start + length] ?? '')
  }
  return found
}
