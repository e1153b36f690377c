/** Capabilities of Apache Cassandra, and of a fork with all extensions, such as DSE. */
import type { Capabilities } from '../../../src/engine/cassandra/cluster/capabilities.ts'

export const apache: Capabilities = {
  extensions: false,
  sourceModel: false,
  indexAnalyzer: false,
  or: false,
  notEquals: false,
  notContains: false,
  indexedIn: false,
  mapRanges: false,
  indexView: 'system_views.sai_column_indexes',
}

export const fork: Capabilities = {
  extensions: true,
  sourceModel: true,
  indexAnalyzer: true,
  or: true,
  notEquals: true,
  notContains: true,
  indexedIn: true,
  mapRanges: true,
  indexView: 'system_views.indexes',
}
