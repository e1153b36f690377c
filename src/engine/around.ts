/**
 * An engine in front of another. Calls that have a hook go through it: it is given the call
 * to make, and what it is made with. All others are passed on.
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
  const calls = new Map<PropertyKey, AnyCall>()
  return new Proxy(engine, {
    get(behind, name) {
      const known = calls.get(name)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(behind, name, behind)
      if (typeof value !== 'function') return value
      const proceed = value.bind(behind) as AnyCall
      const hook = hooks[name as Method] as unknown as
        ((proceed: AnyCall, ...args: readonly unknown[]) => unknown) | undefined
      const call: AnyCall =
        hook === undefined ? proceed : (...args) => hook(proceed, ...args)
      calls.set(name, call)
      return call
    },
  })
}
