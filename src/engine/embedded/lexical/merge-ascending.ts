/** Brings lists of ascending numbers together, each of which comes in steps. */
export function* mergeAscending(
  lists: readonly Iterator<readonly number[]>[],
): Generator<readonly number[]> {
  let open = lists.map(stepsOf)
  for (;;) {
    open = open.filter((list) => list.fill())
    if (open.length === 0) return
    // Nobody has anything yet to come that is not beyond its own last.
    const upTo = Math.min(...open.map((list) => list.last))
    const parts = open.map((list) => list.takeUpTo(upTo)).filter(({ length }) => length > 0)
    yield parts.length === 1 ? parts[0]! : parts.flat().sort((a, b) => a - b)
  }
}

function stepsOf(list: Iterator<readonly number[]>) {
  let step: readonly number[] = []
  return {
    /** Has something to take from; false at the end. */
    fill(): boolean {
      while (step.length === 0) {
        const next = list.next()
        if (next.done === true) return false
        step = next.value
      }
      return true
    },
    get last(): number {
      return step.at(-1)!
    },
    takeUpTo(bound: number): readonly number[] {
      let size = step.length
      while (size > 0 && step[size - 1]! > bound) size--
      const taken = step.slice(0, size)
      step = step.slice(size)
      return taken
    },
  }
}
