import type { Engine } from '../../engine/contract.ts'
import type { Target } from '../../engine/schema.ts'

/**
 * Caches the store of each target for as long as the engine returns the same target object. Stores
 * are cached per engine, because an engine may act with the credentials of one caller.
 */
export class TargetStores {
  readonly #known = new WeakMap<Engine, WeakMap<Target, unknown>>()

  /** The cached store of a target. Calls `make` if none is cached. */
  of<Store>(engine: Engine, target: Target, make: () => Store): Store {
    let ofEngine = this.#known.get(engine)
    if (ofEngine === undefined) this.#known.set(engine, (ofEngine = new WeakMap()))
    let store = ofEngine.get(target) as Store | undefined
    if (store === undefined) ofEngine.set(target, (store = make()))
    return store
  }
}
