import { AnalysisBudget } from '../../src/caller/analysis-budget.ts'
import { ownCaller, type Caller } from '../../src/caller/caller.ts'

/** Lets others have their turn whenever it is asked, and counts how often that is. */
export class CountingCaller implements Caller {
  readonly #own = ownCaller()
  readonly principalName = ''
  readonly connection = this
  readonly signal = this.#own.signal
  readonly analysis = new AnalysisBudget(this)
  asked = 0
  /** Fails when it has been asked so often, as a request does whose time is over. */
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

/** How often an action asks whether others are to have their turn. */
export async function pausesOf(act: (caller: Caller) => unknown): Promise<number> {
  const caller = new CountingCaller()
  await act(caller)
  return caller.asked
}
