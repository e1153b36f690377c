/** Replaces strings by others everywhere in a text; the longest match wins. */
import { ArgumentProblem, entriesIn, pairIn } from '../arguments.ts'
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { TextBuilder } from '../text-builder.ts'
import type { Arguments, CharFilter } from '../stage.ts'
import { fixedLimits } from '../../../limits.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'

const { mappingLengthMax } = fixedLimits

export function* mapping(args: Arguments): Steps<CharFilter> {
  const root: Branch = { label: '' }
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

/**
 * A radix tree of strings. A tree with a branch for each character would take 200 bytes per
 * character of long strings.
 */
interface Branch {
  /** The characters between the branch above and this one. */
  label: string
  /** Branches below this one, by the first character of their labels. */
  next?: Map<string, Branch>
  /** Replacement of the string that ends here; absent: no string ends here. */
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
  branchOf(root, from).replacement = unquoted(sides[1])
}

/** Returns the branch at which a string ends; creates it if necessary. */
function branchOf(root: Branch, text: string): Branch {
  let branch = root
  for (let at = 0; at < text.length;) {
    branch.next ??= new Map()
    const first = text[at]!
    const next = branch.next.get(first)
    if (next === undefined) {
      const leaf = { label: text.slice(at) }
      branch.next.set(first, leaf)
      return leaf
    }
    const common = commonLength(next.label, text, at)
    if (common < next.label.length) {
      const upper = { label: next.label.slice(0, common) }
      branch.next.set(first, splitBelow(upper, next))
      branch = upper
    } else branch = next
    at += common
  }
  return branch
}

function splitBelow(upper: Branch, lower: Branch): Branch {
  lower.label = lower.label.slice(upper.label.length)
  upper.next = new Map([[lower.label[0]!, lower]])
  return upper
}

/** Number of characters that a label has in common with a text at a position. */
function commonLength(label: string, text: string, at: number): number {
  let length = 0
  while (length < label.length && label[length] === text[at + length]) length++
  return length
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
  let branch = root
  let found: { readonly length: number; readonly replacement: string } | undefined
  for (let at = start; ;) {
    const next = branch.next?.get(text[at] ?? '')
    steps.take(2 + (next?.label.length ?? 0))
    if (!next || !text.startsWith(next.label, at)) return found
    at += next.label.length
    branch = next
    if (branch.replacement !== undefined)
      found = { length: at - start, replacement: branch.replacement }
  }
}
