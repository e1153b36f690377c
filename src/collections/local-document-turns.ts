/**
 * Turns among the requests of one server. Servers that share a store keep each other's changes
 * apart by the versions of records.
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
