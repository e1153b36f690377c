/**
 * Registers the tests of files as skipped, so that Node counts them. Files that are imported after
 * `skipTests` get the functions of this module instead of those of `node:test`.
 */
import { registerHooks } from 'node:module'
import { describe as describeReal, test as testReal } from 'node:test'

let reason = ''

/** Skips the tests of all files that this process imports after the call. */
export function skipTests(why: string): void {
  reason = why
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node:test' && context.parentURL !== import.meta.url
        ? { url: import.meta.url, shortCircuit: true }
        : next(specifier, context),
  })
}

/** The arguments of `test` and `describe`: a name, options and a function, all optional. */
type Arguments = readonly unknown[]

function nameOf(given: Arguments): string {
  const [first] = given
  return typeof first === 'string' ? first : '<anonymous>'
}

export function test(...given: Arguments): void {
  void testReal(nameOf(given), { skip: reason })
}

/**
 * Runs the body of a suite. If the suite itself were skipped, Node would not run its body, and
 * would not count its tests.
 */
export function describe(...given: Arguments): void {
  const body = given.find((argument) => typeof argument === 'function')
  void describeReal(nameOf(given), body as () => void)
}

export { describe as suite, test as it, test as default }

/** Hooks of skipped tests do nothing. */
export const before = () => undefined
export { before as after, before as afterEach, before as beforeEach }
export { mock } from 'node:test'
