/**
 * The locks that keep two changes of a document apart within one server. Servers that share a
 * store keep each other's changes apart by the versions of records.
 */
import { Locks } from './locks.ts'
import { Upserts } from './upserts.ts'

export class DocumentTurns {
  readonly locks = new Locks()
  readonly upserts = new Upserts()
}
