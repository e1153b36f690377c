/**
 * The stores that were opened, by the paths that they were found at. Threads open a store
 * when they first need it; by then its path may lead to another one, whose records would be
 * taken for ours. So stores are opened only after asking here.
 *
 * A store that is made anew may get the path of one that was dropped. So nobody may ask for a
 * store whose target is no longer in the catalog: it would be remembered after `forget`.
 */
import { asEngineError, refuseIfLost } from './disk-trouble.ts'
import { identify, type FileIdentity } from './file-identity.ts'

export class KnownFiles {
  readonly catalog: FileIdentity
  readonly #known = new Map<string, FileIdentity>()

  constructor(catalog: FileIdentity) {
    this.catalog = catalog
  }

  /** Throws unless the path leads to what it did when it was first asked for. */
  admit(file: string): FileIdentity {
    refuseIfLost(this.catalog)
    const identity = this.#known.get(file) ?? identify(file)
    refuseIfLost(identity)
    this.#known.set(file, identity)
    return identity
  }

  /** Admits a file and opens it, with failures as the contract has them. */
  open<T>(file: string, kind: 'read' | 'write', open: () => T): T {
    try {
      this.admit(file)
      return open()
    } catch (error) {
      throw asEngineError(kind, error, file)
    }
  }

  /** What was first found there. */
  identityOf(file: string): FileIdentity | undefined {
    return this.#known.get(file)
  }

  /** Others know it by this. */
  introduce(file: string, identity: FileIdentity): void {
    this.#known.set(file, identity)
  }

  /** The store is no more: another may come to have its path. */
  forget(file: string): void {
    this.#known.delete(file)
  }
}
