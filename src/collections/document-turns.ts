/**
 * Who waits for whom, among those who change the same documents. One for a server: servers
 * that share a store keep each other's changes apart by the versions of records.
 */
import { Locks } from './locks.ts'
import { Upserts } from './upserts.ts'

export class DocumentTurns {
  readonly locks = new Locks()
  readonly upserts = new Upserts()
}
