/** Generates every command from its grammar, valid or with random faults. */
import { commandsAt } from '../../src/commands/dispatch/registry.ts'
import { defaultLimits } from '../../src/limits.ts'
import * as documents from './documents.ts'
import type { Hand } from './hand.ts'
import { commandInput, type CommandInput } from './input.ts'
import { somePageState } from './page-states.ts'
import * as rows from './rows.ts'
import * as schemas from './schemas.ts'
import { abilities, collections, openKeyspace, tables } from './world.ts'

const limits = defaultLimits

export function writeCommand(hand: Hand): CommandInput {
  const onTable = hand.random.oneIn(2)
  const level = hand.pick(['general', 'keyspace', 'target', 'target', 'target'] as const)
  const writers =
    level === 'target' ? (onTable ? tableCommands : targetCommands) : levels[level]
  const command = hand.pick(Object.keys(writers))
  const collection = hand.pick(collections)
  const target = onTable ? hand.pick(tables) : collection
  const fields = hand.write(() => writers[command]!(hand, abilities[collection]))
  const body = hand.slips() ? { [command]: fields, find: {} } : { [command]: fields }
  return commandInput('grammar', pathOf(hand, level, target), body, headers(hand))
}

type Level = 'general' | 'keyspace' | 'target'

const noDatabase = '00000000-0000-4000-8000-000000000000'

function pathOf(hand: Hand, level: Level, target: string): string {
  const prefix = hand.slips()
    ? hand.pick([`/databases/${noDatabase}/v1`, '/databases/x/v1', '/databases//v1', '/v3'])
    : hand.pick(['/v1', '/v1', '/v1', '/api/json/v1'])
  const keyspace = hand.slips()
    ? hand.pick(['nobody', 'spare_keyspace1', '%00', '%F0%9F%92%A5'])
    : openKeyspace
  const name = hand.slips()
    ? hand.pick(['nobody', 'spare1', 'spare2', '%2e%2e', 'x%2Fy'])
    : target
  if (hand.slips()) level = hand.pick(['general', 'keyspace', 'target'])
  const path = { general: '', keyspace: `/${keyspace}`, target: `/${keyspace}/${name}` }[
    level
  ]
  return prefix + path + (hand.random.oneIn(20) ? '/' : '')
}

function headers(hand: Hand): Record<string, string> {
  const headers: Record<string, string> = {}
  if (hand.slips()) headers['Feature-Flag-lexical'] = hand.pick(['false', 'true', 'x'])
  if (hand.slips()) headers['Feature-Flag-reranking'] = 'false'
  if (hand.slips())
    headers['Content-Type'] = hand.pick(['text/plain', 'application/json;', ''])
  if (hand.slips()) headers['Host'] = `${noDatabase}-${hand.pick(['here', ''])}.example.com`
  if (hand.slips()) headers['x-embedding-api-key'] = hand.pick(['key', ''])
  return headers
}

type Writers = Readonly<Record<string, (hand: Hand, can: documents.Abilities) => object>>

const flag = (hand: Hand) => () => hand.random.oneIn(2)
const keyspaceOnly = (hand: Hand) =>
  hand.members({ name: () => schemas.keyspaceName(hand) })
const nothing = (hand: Hand) => hand.members({}, { options: () => hand.members({}) })
const dropped = (hand: Hand) =>
  hand.members(
    { name: () => schemas.name(hand) },
    { options: () => hand.members({}, { ifExists: flag(hand) }) },
  )
const explained = (hand: Hand) =>
  hand.members({}, { options: () => hand.members({}, { explain: flag(hand) }) })
const replicated = (hand: Hand) =>
  hand.members(
    { name: () => schemas.keyspaceName(hand) },
    {
      options: () =>
        hand.members({
          replication: () =>
            hand.members({
              class: () =>
                hand.choose(['SimpleStrategy', 'NetworkTopologyStrategy'], ['x', '']),
              ...(hand.random.oneIn(2) && {
                replication_factor: () => hand.choose<unknown>([1, 3], [0, '1', -1]),
              }),
            }),
        }),
    },
  )
const models = (hand: Hand) =>
  hand.members(
    {},
    {
      options: () =>
        hand.members(
          {},
          {
            filterModelStatus: () =>
              hand.pick(['SUPPORTED', 'DEPRECATED', 'END_OF_LIFE', '']),
          },
        ),
    },
  )

const general: Writers = {
  createKeyspace: replicated,
  createNamespace: replicated,
  dropKeyspace: keyspaceOnly,
  dropNamespace: keyspaceOnly,
  findEmbeddingProviders: models,
  findKeyspaces: nothing,
  findNamespaces: nothing,
  findRerankingProviders: models,
}

const keyspace: Writers = {
  alterType: (hand) =>
    hand.members(
      { name: () => hand.pick(['spare0', 'spare1', 'address']) },
      {
        rename: () => ({
          fields: hand.mapping(['f', 'g', 'zip'], 1, () => hand.pick(['f', 'g', 'h'])),
        }),
        add: () => ({
          fields: hand.mapping(['f', 'g', 'h'], 1, () => schemas.fieldType(hand)),
        }),
      },
    ),
  createCollection: (hand) =>
    hand.members(
      { name: () => schemas.name(hand) },
      { options: () => schemas.collectionOptions(hand) },
    ),
  createTable: (hand) =>
    hand.members(
      { name: () => schemas.name(hand), definition: () => schemas.tableDefinition(hand) },
      { options: () => hand.members({}, { ifNotExists: flag(hand) }) },
    ),
  createType: (hand) =>
    hand.members(
      {
        name: () => schemas.name(hand),
        definition: () => ({
          fields: hand.mapping(['f', 'g', 'h'], 2, () => schemas.fieldType(hand)),
        }),
      },
      { options: () => hand.members({}, { ifNotExists: flag(hand) }) },
    ),
  deleteCollection: (hand) => hand.members({ name: () => schemas.name(hand) }),
  dropIndex: (hand) =>
    hand.members(
      { name: () => `spare_index${hand.random.below(6)}` },
      { options: () => hand.members({}, { ifExists: flag(hand) }) },
    ),
  dropTable: dropped,
  dropType: dropped,
  findCollections: explained,
  listTables: explained,
  listTypes: explained,
}

const paging = (hand: Hand) =>
  hand.members(
    {},
    {
      limit: () =>
        hand.choose([1 + hand.random.below(90)], [hand.edge(limits.vectorLimitMax), 0, -1]),
      ...(hand.random.oneIn(5) && { skip: () => hand.random.below(5) }),
      ...(hand.slips() && { pageState: () => somePageState(hand) }),
      includeSimilarity: flag(hand),
      includeSortVector: flag(hand),
      // These options are rare, because only sorts by a vector accept them.
      ...(hand.random.oneIn(8) && { minSimilarity: () => fraction(hand) }),
      ...(hand.random.oneIn(8) && { diversity: () => fraction(hand) }),
    },
  )

const fraction = (hand: Hand) =>
  hand.choose([0, hand.random.below(100) / 100, 1], [-0.1, 1.1, null])

const selected = (hand: Hand, can: documents.Abilities) => ({
  filter: () => documents.filter(hand),
  sort: () => documents.sort(hand, can),
  projection: () => documents.projection(hand),
})

const returned = (hand: Hand) => () =>
  hand.members(
    {},
    {
      returnDocument: () => hand.choose(['before', 'after'], ['x', '']),
      upsert: flag(hand),
    },
  )

const targetCommands: Writers = {
  countDocuments: (hand) => hand.members({}, { filter: () => documents.filter(hand) }),
  deleteMany: (hand) => hand.members({}, { filter: () => documents.filter(hand) }),
  deleteOne: (hand, can) =>
    hand.members(
      { filter: () => documents.filter(hand) },
      { sort: () => documents.sort(hand, can) },
    ),
  estimatedDocumentCount: nothing,
  find: (hand, can) =>
    hand.members({}, { ...selected(hand, can), options: () => paging(hand) }),
  findAndRerank: (hand, can) =>
    hand.members(
      {
        sort: () => ({
          $hybrid:
            can.embeds && hand.random.oneIn(2)
              ? documents.words(hand)
              : hand.members(
                  can.embeds || hand.slips()
                    ? { $vectorize: () => documents.words(hand) }
                    : { $vector: () => documents.vector(hand, can.dimension || 3) },
                  { $lexical: () => documents.words(hand) },
                ),
        }),
      },
      {
        filter: () => documents.filter(hand),
        projection: () => documents.projection(hand),
        options: () =>
          hand.members(
            {},
            {
              limit: () => hand.edge(10),
              hybridLimits: () =>
                hand.oneOf(
                  () => hand.edge(limits.hybridLimitMax),
                  () => ({ $vector: 5, $lexical: hand.write(() => 5) }),
                ),
              rerankOn: () => hand.choose(['s', '$lexical'], ['$vectorize', 'deep.er', '']),
              rerankQuery: () => documents.words(hand),
              includeScores: flag(hand),
              includeSortVector: flag(hand),
            },
          ),
      },
    ),
  findOne: (hand, can) =>
    hand.members(
      {},
      {
        ...selected(hand, can),
        options: () =>
          hand.members(
            {},
            { includeSimilarity: flag(hand), includeSortVector: flag(hand) },
          ),
      },
    ),
  findOneAndDelete: (hand, can) => hand.members({}, selected(hand, can)),
  findOneAndReplace: (hand, can) =>
    hand.members(
      { replacement: () => documents.document(hand, can) },
      { ...selected(hand, can), options: returned(hand) },
    ),
  findOneAndUpdate: (hand, can) =>
    hand.members(
      { update: () => documents.update(hand, can) },
      { ...selected(hand, can), options: returned(hand) },
    ),
  insertMany: (hand, can) =>
    hand.members(
      {
        documents: () =>
          hand.list(
            hand.random.oneIn(9)
              ? hand.edge(limits.insertManyMax)
              : 1 + hand.random.below(6),
            () => documents.document(hand, can),
          ),
      },
      {
        options: () =>
          hand.members({}, { ordered: flag(hand), returnDocumentResponses: flag(hand) }),
      },
    ),
  insertOne: (hand, can) => hand.members({ document: () => documents.document(hand, can) }),
  updateMany: (hand, can) =>
    hand.members(
      {
        filter: () => documents.filter(hand),
        update: () => documents.update(hand, can),
      },
      {
        options: () =>
          hand.members(
            {},
            {
              upsert: flag(hand),
              ...(hand.slips() && { pageState: () => somePageState(hand) }),
            },
          ),
      },
    ),
  updateOne: (hand, can) =>
    hand.members(
      {
        filter: () => documents.filter(hand),
        update: () => documents.update(hand, can),
      },
      {
        sort: () => documents.sort(hand, can),
        options: () => hand.members({}, { upsert: flag(hand) }),
      },
    ),
}

const tableCommands: Writers = {
  alterTable: (hand) => hand.members({ operation: () => schemas.alteration(hand) }),
  createIndex: (hand) => schemas.indexFields(hand, 'regular'),
  createTextIndex: (hand) => schemas.indexFields(hand, 'text'),
  createVectorIndex: (hand) => schemas.indexFields(hand, 'vector'),
  dropIndex: keyspace['dropIndex']!,
  listIndexes: explained,
  deleteMany: (hand) => hand.members({ filter: () => rows.keyFilter(hand) }),
  deleteOne: (hand) =>
    hand.members(
      { filter: () => rows.wholeKeyFilter(hand) },
      hand.slips() ? { sort: () => rows.rowSort(hand) } : {},
    ),
  find: (hand) =>
    hand.members(
      {},
      {
        filter: () => rows.rowFilter(hand),
        sort: () => rows.rowSort(hand),
        projection: () => rows.rowProjection(hand),
        options: () => paging(hand),
      },
    ),
  findOne: (hand) =>
    hand.members(
      {},
      {
        filter: () => rows.rowFilter(hand),
        sort: () => rows.rowSort(hand),
        projection: () => rows.rowProjection(hand),
        options: () =>
          hand.members(
            {},
            { includeSimilarity: flag(hand), includeSortVector: flag(hand) },
          ),
      },
    ),
  insertMany: (hand) =>
    hand.members(
      {
        documents: () =>
          hand.list(
            hand.random.oneIn(9)
              ? hand.edge(limits.insertManyMax)
              : 1 + hand.random.below(6),
            () => rows.row(hand),
          ),
      },
      {
        options: () =>
          hand.members({}, { ordered: flag(hand), returnDocumentResponses: flag(hand) }),
      },
    ),
  insertOne: (hand) => hand.members({ document: () => rows.row(hand) }),
  updateOne: (hand) =>
    hand.members({
      filter: () => rows.wholeKeyFilter(hand),
      update: () => rows.rowUpdate(hand),
    }),
}

const levels = { general, keyspace }

/** Commands of the registry without a generator. The list must be empty. */
export function unwrittenCommands(): string[] {
  const written = {
    general: Object.keys(general),
    keyspace: Object.keys(keyspace),
    target: [...Object.keys(targetCommands), ...Object.keys(tableCommands)],
  }
  return (['general', 'keyspace', 'target'] as const).flatMap((level) =>
    [...commandsAt[level].keys()].filter((name) => !written[level].includes(name)),
  )
}
