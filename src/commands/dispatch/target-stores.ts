import type { Engine } from '../../engine/contract.ts'
import type { Target } from '../../engine/schema.ts'

/**
 * What commands work with, kept for as long as the engine gives out the same targets. By the
 * engine first: what acts for one caller must not act for another.
 */
export class TargetStores {
  readonly #known = new WeakMap<Engine, WeakMap<Target, unknown>>()

  /** What was made of the target, or is now. */
  of<Store>(engine: Engine, target: Target, make: () => Store): Store {
    let ofEngine = this.#known.get(engine)
    if (ofEngine === undefined) this.#known.set(engine, (ofEngine = new WeakMap()))
    let store = ofEngine.get(target) as Store | undefined
    if (store === undefined) ofEngine.set(target, (store = make()))
    return store
  }
}
