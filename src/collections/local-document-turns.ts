/**
 * Document locks within one server process. Between servers that share a store, versions of
 * records detect conflicts.
 */
import type { DocumentTurns } from './document-turns.ts'
import { Locks } from './locks.ts'
import { Upserts } from './upserts.ts'

export class LocalDocumentTurns implements DocumentTurns {
  readonly locks = new Locks()
  readonly upserts = new Upserts()
  readonly holding: DocumentTurns['holding'] = (keys, work) =>
    this.locks.holding(keys, work)
  readonly inserting: DocumentTurns['inserting'] = (...insertion) =>
    this.upserts.inTurn(...insertion)
}
