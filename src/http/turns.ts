/**
 * Turns of the answering thread, for work that goes on in slices.
 *
 * If all who wait went on at once, others would wait for a slice of each of them. So one goes
 * on in each turn of the event loop, and what has arrived is looked at in between: first the
 * principals in turn, then the work of each in the order in which it paused.
 */
export class Turns {
  /** By principal; the one that had its turn last is the last. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isDue = false

  next(principalName: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(principalName)
      if (line === undefined) this.#waiting.set(principalName, [resolve])
      else line.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#begin)
  }

  readonly #begin = (): void => {
    this.#isDue = false
    const [[name, line]] = this.#waiting as unknown as [[string, (() => void)[]]]
    this.#waiting.delete(name)
    const goOn = line.shift()!
    if (line.length > 0) this.#waiting.set(name, line)
    if (this.#waiting.size > 0) this.#schedule()
    goOn()
  }
}
