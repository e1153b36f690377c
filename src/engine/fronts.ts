/**
 * Engines that stand in front of another for a while: for a request that is traced, or for
 * the credentials of one. Who takes turns on a store does so whichever they came through.
 */
import type { Engine } from './contract.ts'

const behind = new WeakMap<Engine, Engine>()

/** Notes that one stands in front of the other, and returns it. */
export function inFrontOf(engine: Engine, front: Engine): Engine {
  behind.set(front, engine)
  return front
}

/** The engine that is behind all others. */
export function engineBehind(front: Engine): Engine {
  let engine = front
  for (let next = behind.get(engine); next !== undefined; next = behind.get(engine))
    engine = next
  return engine
}
