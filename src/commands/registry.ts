/** The table of contents of the API: every command, by name. */
import { countDocuments } from './count-documents.ts'
import { createCollection } from './create-collection.ts'
import { createKeyspace } from './create-keyspace.ts'
import { createNamespace } from './create-namespace.ts'
import type { Command, Level } from './define.ts'
import { deleteCollection } from './delete-collection.ts'
import { deleteMany } from './delete-many.ts'
import { deleteOne } from './delete-one.ts'
import { dropKeyspace } from './drop-keyspace.ts'
import { dropNamespace } from './drop-namespace.ts'
import { estimatedDocumentCount } from './estimated-document-count.ts'
import { findAndRerank } from './find-and-rerank.ts'
import { findCollections } from './find-collections.ts'
import { findEmbeddingProviders } from './find-embedding-providers.ts'
import { findKeyspaces } from './find-keyspaces.ts'
import { findNamespaces } from './find-namespaces.ts'
import { findOneAndDelete } from './find-one-and-delete.ts'
import { findOneAndReplace } from './find-one-and-replace.ts'
import { findOneAndUpdate } from './find-one-and-update.ts'
import { findOne } from './find-one.ts'
import { findRerankingProviders } from './find-reranking-providers.ts'
import { find } from './find.ts'
import { insertMany } from './insert-many.ts'
import { insertOne } from './insert-one.ts'
import { updateMany } from './update-many.ts'
import { updateOne } from './update-one.ts'
import {
  alterTable,
  createIndex,
  createTextIndex,
  createVectorIndex,
  listIndexes,
} from './table-commands.ts'

export const commands: Readonly<Record<string, Command>> = {
  alterTable,
  countDocuments,
  createCollection,
  createIndex,
  createKeyspace,
  createNamespace,
  createTextIndex,
  createVectorIndex,
  deleteCollection,
  deleteMany,
  deleteOne,
  dropKeyspace,
  dropNamespace,
  estimatedDocumentCount,
  find,
  findAndRerank,
  findCollections,
  findEmbeddingProviders,
  findKeyspaces,
  findNamespaces,
  findOne,
  findOneAndDelete,
  findOneAndReplace,
  findOneAndUpdate,
  findRerankingProviders,
  insertMany,
  insertOne,
  listIndexes,
  updateMany,
  updateOne,
}

/** Older command names, each with the one to use instead. */
export const deprecated: ReadonlyMap<string, string> = new Map([
  ['createNamespace', 'createKeyspace'],
  ['dropNamespace', 'dropKeyspace'],
  ['findNamespaces', 'findKeyspaces'],
])

export const commandsAt: Readonly<Record<Level, ReadonlyMap<string, Command>>> = {
  general: atLevel('general'),
  keyspace: atLevel('keyspace'),
  target: atLevel('target'),
}

/** What collections can do, as the refusal of a table's command lists it. */
export const collectionCommands = [...commandsAt.target]
  .filter(([, command]) => command.level === 'target' && command.collection !== undefined)
  .map(([name]) => name)

/** What tables can do, in the same place. */
export const tableCommands = [
  'alterTable',
  'alterType',
  'createIndex',
  'createTextIndex',
  'createVectorIndex',
  'deleteMany',
  'deleteOne',
  'find',
  'findOne',
  'insertMany',
  'insertOne',
  'listIndexes',
  'updateOne',
]

function atLevel(level: Level): ReadonlyMap<string, Command> {
  return new Map(Object.entries(commands).filter(([, command]) => command.level === level))
}
