import { cassandra } from './cassandra.ts'
import { consoleStudy } from './console.ts'
import { findIndexed } from './find-indexed.ts'
import { findOne } from './find-one.ts'
import { findSortedFiltered } from './find-sorted-filtered.ts'
import { findSorted } from './find-sorted.ts'
import { findTwoConditions } from './find-two-conditions.ts'
import { findTwoValues } from './find-two-values.ts'
import { findValueAndRange } from './find-value-and-range.ts'
import { insertMany } from './insert-many.ts'
import { insertOne } from './insert-one.ts'
import { mixed } from './mixed.ts'
import { updateOne } from './update-one.ts'
import { hybrid } from './hybrid.ts'
import { lexical } from './lexical.ts'
import { mcp } from './mcp.ts'
import { packageStudy } from './package.ts'
import { postgres } from './postgres.ts'
import { quality } from './quality.ts'
import { scale } from './scale.ts'
import type { Study } from './study.ts'
import { tables } from './tables.ts'
import { vector } from './vector.ts'
import type { Workload } from './workload.ts'
import { writes } from './writes.ts'

/** Workloads in order of execution. Workloads that insert documents come last. */
export const workloads: readonly Workload[] = [
  findOne,
  findIndexed,
  findTwoConditions,
  findTwoValues,
  findValueAndRange,
  findSorted,
  findSortedFiltered,
  mixed,
  updateOne,
  insertOne,
  insertMany,
]

/** Studies run only if the command line names them, because each takes minutes. */
export const studies: readonly Study[] = [
  vector,
  lexical,
  hybrid,
  quality,
  tables,
  mcp,
  postgres,
  cassandra,
  scale,
  packageStudy,
  consoleStudy,
  writes,
]
