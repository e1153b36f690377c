import type { types } from 'cassandra-driver'

/** Estimates the number of partitions from the share of the token ring that the node reports. */
export function estimatePartitions(rows: readonly types.Row[]): number {
  let partitions = 0n
  let covered = 0n
  for (const row of rows) {
    const start = BigInt(row['range_start'] as string)
    const end = BigInt(row['range_end'] as string)
    partitions += BigInt(String(row['partitions_count']))
    covered += start < end ? end - start : end - start + ring
  }
  return covered === 0n ? 0 : Number((partitions * ring) / covered)
}

const ring = 2n ** 64n
