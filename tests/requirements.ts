/** Programs and permissions that some tests require and that not every machine has. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { missingTools } from './cassandra/node.ts'
import { namedNode } from './cassandra/test-node.ts'
import { noDisks } from './faults/small-disk.ts'
import { missingBrowser } from './http/browser.ts'

/** A requirement that this machine does not meet. */
export interface Missing {
  /** The requirement and how to install it. Skipped tests give it as their reason. */
  readonly reason: string
  /**
   * Whether the requirement is a program that can be installed, rather than a permission. With
   * CI=true, a run fails if the program is missing.
   */
  readonly isTool: boolean
  /**
   * Modules with this requirement. A test file that imports one of these modules, directly or not,
   * has the same requirement.
   */
  readonly modules: readonly string[]
}

/** The module through which test files share one Cassandra node. */
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
 * Modules whose own imports are ignored. The shared node may be a running node, which does not
 * require Java.
 */
const boundaries = [sharedNodeModule]

/** Finds the modules under tests/ that a test file imports, directly or not. */
export class TestImports {
  readonly #root: string
  readonly #ofFile = new Map<string, readonly string[]>()

  constructor(root: string) {
    this.#root = root
  }

  /** The modules that `file` imports, directly or not. All paths are relative to the root. */
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

/** Matches static imports, but not type imports, as prettier formats them. */
const importPattern = /^(?:import|export|\})(?! type\b) (?:.*from )?'(\.[^']+\.ts)'$/gm
