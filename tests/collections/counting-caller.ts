import { AnalysisBudget } from '../../src/caller/analysis-budget.ts'
import { ownCaller, type Caller } from '../../src/caller/caller.ts'

/** A caller that yields at every offered pause, and counts the pauses. */
export class CountingCaller implements Caller {
  readonly #own = ownCaller()
  readonly principalName = ''
  readonly connection = this
  readonly signal = this.#own.signal
  readonly analysis = new AnalysisBudget(this)
  asked = 0
  /** Number of the first pause that throws, as after a deadline. All later pauses throw, too. */
  readonly askedMax: number

  constructor(askedMax = Infinity) {
    this.askedMax = askedMax
  }

  check(): void {
    if (this.asked >= this.askedMax) throw new Error('the time is over')
  }

  pause(): Promise<void> {
    this.asked++
    this.check()
    return Promise.resolve()
  }
}

/** Counts how often an action offers to yield to other requests. */
export async function pausesOf(act: (caller: Caller) => unknown): Promise<number> {
  const caller = new CountingCaller()
  await act(caller)
  return caller.asked
}
