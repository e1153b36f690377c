/**
 * Actions to run when a signal is aborted, with one listener per signal. An EventTarget searches
 * all of its listeners before it adds one, so thousands of listeners on one signal would take
 * quadratic time.
 */
export class AbortActions {
  readonly #bySignal = new Map<AbortSignal, Actions>()

  add(signal: AbortSignal, act: () => void): void {
    let actions = this.#bySignal.get(signal)
    if (actions === undefined) {
      const all = new Set<() => void>()
      const run = () => {
        this.#bySignal.delete(signal)
        for (const one of all) one()
      }
      this.#bySignal.set(signal, (actions = { all, run }))
      signal.addEventListener('abort', run, { once: true })
    }
    actions.all.add(act)
  }

  remove(signal: AbortSignal, act: () => void): void {
    const actions = this.#bySignal.get(signal)
    if (actions?.all.delete(act) !== true || actions.all.size > 0) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', actions.run)
  }
}

interface Actions {
  readonly all: Set<() => void>
  readonly run: () => void
}
