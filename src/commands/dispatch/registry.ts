/** Registry of all commands, by the level of their path and by name. */
import { alterTable } from '../alter-table.ts'
import { alterType } from '../alter-type.ts'
import { countDocuments } from '../count-documents.ts'
import { createCollection } from '../create-collection.ts'
import { createIndex } from '../create-index.ts'
import { createKeyspace } from '../create-keyspace.ts'
import { createNamespace } from '../create-namespace.ts'
import { createTable } from '../create-table.ts'
import { createTextIndex } from '../create-text-index.ts'
import { createType } from '../create-type.ts'
import { createVectorIndex } from '../create-vector-index.ts'
import type { Command, CommandLevel } from './define.ts'
import { deleteCollection } from '../delete-collection.ts'
import { deleteMany } from '../delete-many.ts'
import { deleteOne } from '../delete-one.ts'
import { dropIndex, dropTableIndex } from '../drop-index.ts'
import { dropKeyspace } from '../drop-keyspace.ts'
import { dropNamespace } from '../drop-namespace.ts'
import { dropTable } from '../drop-table.ts'
import { dropType } from '../drop-type.ts'
import { estimatedDocumentCount } from '../estimated-document-count.ts'
import { findAndRerank } from '../find-and-rerank.ts'
import { findCollections } from '../find-collections.ts'
import { findEmbeddingProviders } from '../find-embedding-providers.ts'
import { findKeyspaces } from '../find-keyspaces.ts'
import { findNamespaces } from '../find-namespaces.ts'
import { findOneAndDelete } from '../find-one-and-delete.ts'
import { findOneAndReplace } from '../find-one-and-replace.ts'
import { findOneAndUpdate } from '../find-one-and-update.ts'
import { findOne } from '../find-one.ts'
import { findRerankingProviders } from '../find-reranking-providers.ts'
import { find } from '../find.ts'
import { insertMany } from '../insert-many.ts'
import { insertOne } from '../insert-one.ts'
import { listIndexes } from '../list-indexes.ts'
import { listTables } from '../list-tables.ts'
import { listTypes } from '../list-types.ts'
import { updateMany } from '../update-many.ts'
import { updateOne } from '../update-one.ts'

const general: CommandsByName = {
  createKeyspace,
  createNamespace,
  dropKeyspace,
  dropNamespace,
  findEmbeddingProviders,
  findKeyspaces,
  findNamespaces,
  findRerankingProviders,
}

const keyspace: CommandsByName = {
  alterType,
  createCollection,
  createTable,
  createType,
  deleteCollection,
  dropIndex,
  dropTable,
  dropType,
  findCollections,
  listTables,
  listTypes,
}

const target: CommandsByName = {
  alterTable,
  countDocuments,
  createIndex,
  createTextIndex,
  createVectorIndex,
  deleteMany,
  deleteOne,
  dropIndex: dropTableIndex,
  estimatedDocumentCount,
  find,
  findAndRerank,
  findOne,
  findOneAndDelete,
  findOneAndReplace,
  findOneAndUpdate,
  insertMany,
  insertOne,
  listIndexes,
  updateMany,
  updateOne,
}

type CommandsByName = Readonly<Record<string, Command>>

export const commandsAt: Readonly<Record<CommandLevel, ReadonlyMap<string, Command>>> = {
  general: new Map(Object.entries(general)),
  keyspace: new Map(Object.entries(keyspace)),
  target: new Map(Object.entries(target)),
}

/** Deprecated command names and their replacements. */
export const deprecated: ReadonlyMap<string, string> = new Map([
  ['createNamespace', 'createKeyspace'],
  ['dropNamespace', 'dropKeyspace'],
  ['findNamespaces', 'findKeyspaces'],
])

/** Commands that collections support, listed in the error for an unsupported command. */
export const collectionCommands = [...commandsAt.target]
  .filter(([, command]) => command.level === 'target' && command.collection !== undefined)
  .map(([name]) => name)

/** Commands that tables support, and alterType, listed in the error for an unsupported command. */
export const tableCommands = [...commandsAt.target]
  .filter(([, command]) => command.level === 'target' && command.table !== undefined)
  .map(([name]) => name)
  .concat('alterType')
  .toSorted()
