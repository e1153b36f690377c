/** Errors and messages about stored records and indexes that do not match their checksums. */
import { EngineError } from '../../errors.ts'
import type { Tie } from './entry-key.ts'
import { recordName } from './shown-id.ts'

/** The damaged part of a record. */
export type RecordPart = 'text' | 'search fields' | 'vector'

/** The error for a damaged record. `id` is the key of the record; empty when it is unknown. */
export function damagedRecord(id: Uint8Array, tie: Tie, part: RecordPart): EngineError {
  const others = tie === 'id' ? 'rows' : 'documents'
  return new EngineError(
    'damaged',
    `${recordDamage(id, tie, part)}. Restore it from a backup; other ${others} stay readable`,
  )
}

/** The message of `damagedRecord` without advice. */
export function recordDamage(id: Uint8Array, tie: Tie, part: RecordPart): string {
  const verb = part === 'search fields' ? 'do' : 'does'
  return `${recordName(id, tie)} is damaged: its stored ${part} ${verb} not match the checksum`
}

/** The error for an index entry that refers to a missing record, or to a record with another id. */
export function danglingIndexEntry(seq: number, tie: Tie): EngineError {
  const [record, others] = tie === 'id' ? ['row', 'rows'] : ['document', 'documents']
  return new EngineError(
    'damaged',
    `the store is damaged: an index refers to ${record} number ${seq}, which is ` +
      `missing or differs. Restore it from a backup; other ${others} stay readable`,
  )
}

/**
 * The error for a damaged index. `index` is the name of the index, `place` the damaged part of it.
 */
export function damagedIndex(index: string, place: string): EngineError {
  return new EngineError(
    'damaged',
    `${indexDamage(index, place)}. Restore from a backup. Reads that do not use the ` +
      'index still work',
  )
}

/** The message of `damagedIndex` without advice. */
export function indexDamage(index: string, place: string): string {
  return `${index} is damaged: ${place} does not match the checksum`
}

/** Name of the value index in messages. */
export const valueIndex = 'the index'

/** Name of a term index in messages, by the suffix of its tables. */
export function termIndex(suffix: string): string {
  return suffix === ''
    ? 'the term index of $lexical'
    : `text index number ${suffix.slice(1)}`
}

/** Counts how often damage was found since the engine was opened. */
export class DamageCount {
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Counts the error if it reports damage, and returns it. */
  note<E>(error: E): E {
    if (error instanceof EngineError && error.kind === 'damaged') this.add()
    return error
  }

  add(): void {
    this.#count++
  }
}
