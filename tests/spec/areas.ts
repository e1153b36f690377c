/** All statements of the specification. */
import { collections } from './collections.ts'
import { documents } from './documents.ts'
import { http } from './http.ts'
import { hybrid } from './hybrid.ts'
import { reads } from './reads.ts'
import { searches } from './searches.ts'
import type { Area } from './statement.ts'
import { tablesFind } from './tables-find.ts'
import { tablesRows } from './tables-rows.ts'
import { tablesSchema } from './tables-schema.ts'
import { writes } from './writes.ts'

export const areas: readonly Area[] = [
  ...[http, collections, documents, writes, reads, searches, hybrid],
  ...[tablesSchema, tablesRows, tablesFind],
]
