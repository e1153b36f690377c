/**
 * The data of an in-memory engine, separate from the engine itself. Several engines may use the
 * same data: at once, as servers share a cluster, or one after another, as after a restart.
 */
import type { Setting, Target } from '../../../src/engine/contract.ts'
import { OneByOne } from '../../../src/engine/one-by-one.ts'
import type { UserType } from '../../../src/language/columns/column-type.ts'
import { MemoryDocuments } from './memory-documents.ts'
import { MemoryRows } from './memory-rows.ts'

export class MemoryKeyspace {
  readonly targets = new Map<string, Target>()
  readonly types = new Map<string, UserType>()
  /** Runs schema changes and holders of the schema lock one at a time. */
  readonly turns = new OneByOne()
}

export class MemoryStore {
  readonly keyspaces = new Map([['default_keyspace', new MemoryKeyspace()]])
  /** Documents of a collection, by uid of the target. */
  readonly documents = new Map<string, MemoryDocuments>()
  readonly rows = new Map<string, MemoryRows>()
  readonly settings = new Map<string, Setting>()
  readonly watchers = new Set<{ readonly listener: (name: string) => void }>()
  /** Increases with every schema change; a plan is valid only while the version is unchanged. */
  schemaVersion = 0
  #lastNumber = 0

  /** A unique number. */
  nextNumber(): number {
    return ++this.#lastNumber
  }

  createKeyspace(name: string): boolean {
    if (this.keyspaces.has(name)) return false
    this.keyspaces.set(name, new MemoryKeyspace())
    this.schemaVersion++
    return true
  }

  dropKeyspace(name: string): boolean {
    this.schemaVersion++
    return this.keyspaces.delete(name)
  }

  add(target: Target): void {
    this.keyspaces.get(target.keyspace)!.targets.set(target.name, target)
    if (target.kind === 'table') this.rows.set(target.uid, new MemoryRows())
    else this.documents.set(target.uid, new MemoryDocuments(() => this.nextNumber()))
  }

  writeSetting(name: string, value: string, expected: string | undefined) {
    if (this.settings.get(name)?.version !== expected) return undefined
    const version = `v${this.nextNumber()}`
    this.settings.set(name, { value, version })
    for (const { listener } of [...this.watchers]) listener(name)
    return version
  }
}
