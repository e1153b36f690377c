/** Minimizes an input: removes parts as long as the input still causes the finding. */
import {
  Literal,
  printTree,
  type CommandInput,
  type Input,
  type RawInput,
} from './input.ts'

export type Shows = (input: Input) => Promise<boolean>

/**
 * Returns the smallest input found that shows the same finding, after sending at most `tries`
 * inputs.
 */
export async function minimize(input: Input, shows: Shows, tries: number): Promise<Input> {
  const budget = { left: tries }
  const attempt = async (candidate: Input) => {
    if (budget.left-- <= 0) return false
    return shows(candidate)
  }
  if (input.kind === 'raw') return minimizeRaw(input, attempt)
  return 'tree' in input ? minimizeTree(input, attempt) : minimizeBody(input, attempt)
}

async function minimizeTree(input: CommandInput, shows: Shows): Promise<Input> {
  let best: CommandInput = (await shows({ ...input, headers: {} }))
    ? { ...input, headers: {} }
    : input
  for (let progress = true; progress;) {
    progress = false
    for (const tree of simpler(best.tree)) {
      const candidate = { ...best, tree, body: Buffer.from(printTree(tree)) }
      if (!(await shows(candidate))) continue
      best = candidate
      progress = true
      break
    }
  }
  return best
}

/** Copies of a tree without one of its parts, in order of decreasing size of that part. */
function* simpler(tree: unknown): Generator {
  if (typeof tree === 'string') {
    if (tree.length > 8) yield tree.slice(0, tree.length >> 1)
    if (tree.length > 1) yield 'x'
    return
  }
  if (tree instanceof Literal || typeof tree !== 'object' || tree === null) {
    if (typeof tree !== 'boolean' && tree !== null && tree !== 0) yield 0
    return
  }
  if (Array.isArray(tree)) {
    const list = tree as unknown[]
    if (list.length > 3) {
      yield list.slice(0, list.length >> 1)
      yield list.slice(list.length >> 1)
    }
    for (const at of list.keys()) yield list.toSpliced(at, 1)
    for (const [at, child] of list.entries())
      for (const smaller of simpler(child)) yield list.with(at, smaller)
    return
  }
  const entries = Object.entries(tree)
  for (const at of entries.keys()) yield Object.fromEntries(entries.toSpliced(at, 1))
  for (const [at, [key, child]] of entries.entries())
    for (const smaller of simpler(child))
      yield Object.fromEntries(entries.with(at, [key, smaller]))
}

async function minimizeBody(input: CommandInput, shows: Shows): Promise<Input> {
  const body = await minimizeBytes(input.body, (bytes) => shows({ ...input, body: bytes }))
  return { ...input, body }
}

async function minimizeRaw(input: RawInput, shows: Shows): Promise<Input> {
  const whole = Buffer.concat(input.parts)
  if (!(await shows({ ...input, parts: [whole] }))) return input
  const bytes = await minimizeBytes(whole, (part) => shows({ ...input, parts: [part] }))
  return { ...input, parts: [bytes] }
}

/** Removes pieces of decreasing size, as long as the input still causes the finding. */
async function minimizeBytes(
  bytes: Buffer,
  shows: (bytes: Buffer) => Promise<boolean>,
): Promise<Buffer> {
  let best = bytes
  for (let size = best.length >> 1; size >= 1; size >>= 1)
    for (let from = 0; from < best.length;) {
      const without = Buffer.concat([best.subarray(0, from), best.subarray(from + size)])
      if (await shows(without)) best = without
      else from += size
    }
  return best
}
