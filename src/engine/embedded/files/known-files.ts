/**
 * Identities of the opened stores, by path. Each thread opens a store when it first needs the
 * store. By then another file may have taken the path, and its records would be mistaken for
 * records of the store. So a store may only be opened after `admit`.
 *
 * A new store may get the path of a dropped store. So `admit` must not be called for a store whose
 * target is no longer in the catalog: the old identity would be remembered after `forget`.
 */
import { asEngineError, refuseIfLost } from './disk-trouble.ts'
import { identify, type FileIdentity } from './file-identity.ts'

export class KnownFiles {
  readonly catalog: FileIdentity
  readonly #known = new Map<string, FileIdentity>()

  constructor(catalog: FileIdentity) {
    this.catalog = catalog
  }

  /**
   * Identity of the file at a path. Throws unless it is the file that the first call for this path
   * has found.
   */
  admit(file: string): FileIdentity {
    refuseIfLost(this.catalog)
    const identity = this.#known.get(file) ?? identify(file)
    refuseIfLost(identity)
    this.#known.set(file, identity)
    return identity
  }

  /** Admits a file and opens it; failures become errors of the contract. */
  open<T>(file: string, kind: 'read' | 'write', open: () => T): T {
    try {
      this.admit(file)
      return open()
    } catch (error) {
      throw asEngineError(kind, error, file)
    }
  }

  /** Identity of the file that was first found at the path. */
  identityOf(file: string): FileIdentity | undefined {
    return this.#known.get(file)
  }

  /** Records the identity that another thread has found. */
  introduce(file: string, identity: FileIdentity): void {
    this.#known.set(file, identity)
  }

  /** Forgets the identity of a dropped store: a new store may get its path. */
  forget(file: string): void {
    this.#known.delete(file)
  }
}
