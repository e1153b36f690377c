import type { ProcessAnswer as Answer } from '../faults/server-process.ts'

/**
 * An observation that no possible state of the server explains. Only such an observation fails a
 * run.
 */
export class Unexplained extends Error {
  /** `lost` if acknowledged data is missing. */
  readonly kind: 'lost' | 'unexplained'
  /** The trace of the client: the commands that it sent before the observation. */
  trace: string | undefined
  /** The server's error answer, if the error itself is unexplained. */
  refusal: Answer | undefined

  constructor(
    what: string,
    { command, answer, expected }: Evidence = {},
    kind: Unexplained['kind'] = 'unexplained',
  ) {
    const lines = [
      what,
      ...(command === undefined ? [] : [`command:  ${shown(command)}`]),
      ...(answer === undefined ? [] : [`answer:   ${shown(answer)}`]),
      ...(expected === undefined ? [] : [`expected: ${shown(expected)}`]),
    ]
    super(lines.join('\n'))
    this.name = kind === 'lost' ? 'LostWrite' : 'Unexplained'
    this.kind = kind
  }
}

/** The request, the answer, and the correct answer. */
export interface Evidence {
  readonly command?: unknown
  readonly answer?: unknown
  readonly expected?: unknown
}

const shownMax = 6_000

function shown(value: unknown): string {
  return shortened(typeof value === 'string' ? value : JSON.stringify(value), shownMax)
}

/** Abbreviates repeated filler characters, and truncates a long text. */
export function shortened(text: string, lengthMax: number): string {
  const telling = text.replace(/([xy])\1{20,}/g, '$1…$1')
  return telling.length <= lengthMax ? telling : `${telling.slice(0, lengthMax)}…`
}

/**
 * Asserts that two lists of texts are equal, including their order; the failure lists missing and
 * surplus texts.
 */
export function assertSame(
  found: readonly string[],
  expected: readonly string[],
  what: string,
  command: unknown,
): void {
  if (found.length === expected.length && found.every((text, i) => text === expected[i]))
    return
  const missing = without(expected, found)
  const surplus = without(found, expected)
  const isOrder = missing.length === 0 && surplus.length === 0
  throw new Unexplained(
    isOrder
      ? `${what}: in another order`
      : `${what}: ${missing.length} missing, ${surplus.length} that should not be there`,
    {
      command,
      answer: isOrder ? found : surplus.slice(0, 5),
      expected: isOrder ? expected : missing.slice(0, 5),
    },
  )
}

/** A copy of `texts` without one occurrence of each text in `others`. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const text of others) counts.set(text, (counts.get(text) ?? 0) + 1)
  return texts.filter((text) => {
    const left = counts.get(text) ?? 0
    counts.set(text, left - 1)
    return left <= 0
  })
}
