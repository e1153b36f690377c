/** Merges ascending lists of numbers, each of which comes in parts. */
export function* mergeAscending(
  lists: readonly Iterator<readonly number[]>[],
): Generator<readonly number[]> {
  let open = lists.map(stepsOf)
  for (;;) {
    open = open.filter((list) => list.fill())
    if (open.length === 0) return
    // Numbers in later parts of a list are greater than the last number of its current part.
    const upTo = Math.min(...open.map((list) => list.last))
    const parts = open.map((list) => list.takeUpTo(upTo)).filter(({ length }) => length > 0)
    yield parts.length === 1 ? parts[0]! : parts.flat().sort((a, b) => a - b)
  }
}

function stepsOf(list: Iterator<readonly number[]>) {
  let step: readonly number[] = []
  return {
    /** Loads the next part when the current part is used up; false at the end of the list. */
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
