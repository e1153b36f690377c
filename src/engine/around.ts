/**
 * Wraps an engine. A hook replaces the method of the same name, and receives the original method
 * and the arguments. Methods without a hook are unchanged. `operations` cannot be hooked: its
 * methods act on the store itself, not for a request.
 */
import type { Engine } from './contract.ts'

type Method = {
  [Name in keyof Engine]-?: NonNullable<Engine[Name]> extends (...args: never) => unknown
    ? Name
    : never
}[keyof Engine]

type Call<Name extends Method> = NonNullable<Engine[Name]>

export type Hooks = {
  readonly [Name in Method]?: (
    proceed: Call<Name>,
    ...args: Parameters<Call<Name>>
  ) => ReturnType<Call<Name>>
}

type AnyCall = (...args: readonly unknown[]) => unknown

export function around(engine: Engine, hooks: Hooks): Engine {
  const front: Record<string, AnyCall> = {}
  for (const [name, proceed] of callsOf(engine)) {
    const hook = hooks[name as Method] as unknown as
      ((proceed: AnyCall, ...args: readonly unknown[]) => unknown) | undefined
    front[name] = hook === undefined ? proceed : (...args) => hook(proceed, ...args)
  }
  const { operations } = engine
  return { ...front, ...(operations && { operations }) } as unknown as Engine
}

/**
 * Yields the name and function of every method of an engine. The engine is an object literal or an
 * instance of a class, whose base classes are included.
 */
function* callsOf(engine: Engine): Generator<[string, AnyCall]> {
  const names = new Set<string>()
  for (
    let holder: object = engine;
    holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder) as object
  )
    for (const name of Object.getOwnPropertyNames(holder)) names.add(name)
  names.delete('constructor')
  for (const name of names) {
    const value: unknown = Reflect.get(engine, name)
    if (typeof value === 'function') yield [name, value.bind(engine) as AnyCall]
  }
}
