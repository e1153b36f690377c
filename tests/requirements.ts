/** Programs and permissions that some tests need and not every machine has. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { missingTools } from './cassandra/node.ts'
import { namedNode } from './cassandra/test-node.ts'
import { noDisks } from './faults/small-disk.ts'
import { missingBrowser } from './http/browser.ts'

/** A requirement that this machine does not meet. */
export interface Missing {
  /** The requirement and how to install it; skipped tests state it as their reason. */
  readonly reason: string
  /**
   * Whether the requirement is a program that can be installed, and not a permission.
   * With CI=true, a run without the program fails.
   */
  readonly isTool: boolean
  /**
   * Modules with this requirement. A test file that imports one of them, directly or not,
   * has it as well.
   */
  readonly modules: readonly string[]
}

/** The module through which tests share a node. */
export const sharedNodeModule = 'tests/cassandra/test-node.ts'

export async function findMissing(): Promise<readonly Missing[]> {
  const missing: Missing[] = []
  const tools = await missingTools()
  if (tools) {
    const modules = ['tests/cassandra/node.ts']
    if (namedNode() === undefined) modules.push(sharedNodeModule)
    missing.push({ reason: tools.message, isTool: true, modules })
  }
  if (missingBrowser !== undefined)
    missing.push({
      reason: missingBrowser,
      isTool: true,
      modules: ['tests/http/browser.ts'],
    })
  if (noDisks !== undefined)
    missing.push({
      reason: `Full disks need the right to mount, which root has: sudo npm test (${noDisks})`,
      isTool: false,
      modules: ['tests/faults/small-disk.ts'],
    })
  return missing
}

/**
 * Modules whose imports are not followed. The shared node may be a running one, which needs no
 * Java.
 */
const boundaries = [sharedNodeModule]

/** Finds the modules under tests/ that a test file imports, directly or not. */
export class TestImports {
  readonly #root: string
  readonly #ofFile = new Map<string, readonly string[]>()

  constructor(root: string) {
    this.#root = root
  }

  /** `file` and the result are relative to the root. */
  reachedBy(file: string): ReadonlySet<string> {
    const reached = new Set([file])
    for (const module of reached)
      if (!boundaries.includes(module))
        for (const imported of this.#importsOf(module)) reached.add(imported)
    return reached
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#ofFile.get(file)
    if (known !== undefined) return known
    const text = readFileSync(posix.join(this.#root, file), 'utf8')
    const imports = Array.from(text.matchAll(importPattern), ([, path]) =>
      posix.join(posix.dirname(file), path!),
    ).filter((path) => path.startsWith('tests/'))
    this.#ofFile.set(file, imports)
    return imports
  }
}

/** Static imports other than type imports, in the format of prettier. */
const importPattern = /^(?:import|export|\})(?! type\b) (?:.*from )?'(\.[^']+\.ts)'$/gm
