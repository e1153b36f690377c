/**
 * JSON schemas of clauses and definitions. They are permissive where a clause has a rich
 * grammar; the reference pages and error messages describe that grammar.
 */
import { vectorMemories } from '../../engine/schema.ts'
import type { Limits } from '../../limits.ts'
import { schemaReference, type Schema } from './schema.ts'

export function clauseSchemas(limits: Limits): Readonly<Record<string, Schema>> {
  return {
    Document: open(
      'A document with any fields. Without _id, the server generates one. Search ' +
        'fields: $vector (numbers), $vectorize (a text that the collection embeds), ' +
        '$lexical (words). Dates are {"$date": <milliseconds>}. For a table, a row: ' +
        'column names with values, including all columns of the primary key.',
      { _id: 'dune', title: 'Dune', year: 1965, $vectorize: 'a desert planet' },
    ),
    Filter: open(
      'Paths with the values that they must equal, or with operators: $eq, $ne, $gt, ' +
        '$gte, $lt, $lte, $in, $nin, $exists; for arrays $all, $size. A path such as ' +
        'author.name addresses fields of nested objects. All conditions must match; ' +
        'combine with $and, $or, $not. To match words, use {"$lexical": {"$match": ' +
        '"…"}}. In a table: columns, without $exists and $size. An empty filter ' +
        'matches everything.',
      { year: { $gte: 1960, $lt: 1970 }, tags: { $in: ['desert'] } },
    ),
    Sort: open(
      'Paths with 1 (ascending) or -1 (descending); or exactly one search, best ' +
        'match first: {"$vectorize": "a text"}, {"$vector": [0.1, …]} or {"$lexical": ' +
        '"words"} in a collection; in a table, an indexed column with a text or a ' +
        'vector.',
      { year: -1 },
      { $vectorize: 'life on other worlds' },
    ),
    Projection: open(
      'Paths with 1 to return only these, or with 0 to exclude them. $vector, ' +
        '$vectorize and $lexical are returned only if included by name or by {"*": 1}.',
      { title: 1, year: 1 },
    ),
    Update: {
      ...shape(
        'Operators, each with paths and arguments. In a table: $set, $unset, and for ' +
          'lists, sets and maps $push and $pullAll.',
        Object.fromEntries(
          Object.entries(updateOperators).map(([name, says]) => [name, open(says)]),
        ),
      ),
      examples: [{ $set: { title: 'Dune' }, $inc: { copies: 1 }, $push: { tags: 'new' } }],
    },
    HybridSort: shape(
      'One text for both searches, or an object with a text or vector and the words.',
      {
        $hybrid: {
          oneOf: [
            { type: 'string' },
            shape(
              'Input of each search: $vectorize or $vector, and $lexical. Without ' +
                '$lexical, only the search by vector runs.',
              {
                $vector: schemaReference('Vector'),
                $vectorize: { type: 'string' },
                $lexical: { type: 'string' },
              },
            ),
          ],
        },
      },
      ['$hybrid'],
    ),
    Vector: {
      description: 'Numbers, or their bytes in Base64 as {"$binary": "…"}.',
      oneOf: [
        {
          type: 'array',
          items: { type: 'number' },
          minItems: 1,
          maxItems: limits.vectorDimensionMax,
        },
        shape(undefined, { $binary: { type: 'string' } }, ['$binary']),
      ],
    },
    HybridLimits: {
      oneOf: [
        positiveNumber(limits.hybridLimitMax),
        shape(
          undefined,
          {
            $vector: positiveNumber(limits.hybridLimitMax),
            $lexical: positiveNumber(limits.hybridLimitMax),
          },
          ['$vector', '$lexical'],
        ),
      ],
    },
    ...collectionSchemas(limits),
    ...tableSchemas(limits),
  }
}

/** Update operators and what they do with their paths. */
const updateOperators: Readonly<Record<string, string>> = {
  $addToSet:
    'Adds a value, or those of {"$each": […]}, to an array unless it already contains it.',
  $currentDate: 'Sets the field to the current time; the argument is true.',
  $inc: 'Adds a number.',
  $max: 'Sets the value if it is greater than the current one.',
  $min: 'Sets the value if it is less than the current one.',
  $mul: 'Multiplies the field by a number.',
  $pop: 'Removes the last element of an array (1), or the first (-1).',
  $pull: 'Removes all elements that equal the value or match the condition.',
  $pullAll: 'Removes all elements that equal one of the values.',
  $push: 'Appends a value to an array, or inserts those of {"$each": […], "$position": n}.',
  $rename: 'Moves a field to another path.',
  $set: 'Sets a value.',
  $setOnInsert: 'Sets a value if an upsert inserts the document.',
  $unset: 'Removes the field; the argument is ignored.',
}

function collectionSchemas(limits: Limits): Readonly<Record<string, Schema>> {
  return {
    Replication: {
      type: 'object',
      properties: {
        class: { type: 'string', enum: ['SimpleStrategy', 'NetworkTopologyStrategy'] },
      },
      required: ['class'],
      additionalProperties: { type: 'integer' },
    },
    CollectionOptions: shape(
      'Options are set when the collection is created and cannot be changed.',
      {
        defaultId: shape(
          'Type of the _id that the server generates for a document without one.',
          {
            type: { type: 'string', enum: ['uuid', 'uuidv6', 'uuidv7', 'objectId'] },
          },
        ),
        vector: shape('Vectors: their dimension, metric and embedding service.', {
          dimension: positiveNumber(limits.vectorDimensionMax),
          metric: schemaReference('Metric'),
          sourceModel: schemaReference('SourceModel'),
          service: schemaReference('EmbeddingService'),
          memory: { type: 'string', enum: [...vectorMemories] },
        }),
        indexing: {
          description:
            'Paths to index (allow), or paths not to index (deny). Filters and sorts ' +
            'require an indexed path.',
          oneOf: [
            shape(undefined, { allow: names() }, ['allow']),
            shape(undefined, { deny: names() }, ['deny']),
          ],
        },
        lexical: shape('Lexical search.', {
          enabled: { type: 'boolean' },
          analyzer: schemaReference('Analyzer'),
        }),
        rerank: shape('The reranker of findAndRerank.', {
          enabled: { type: 'boolean' },
          service: schemaReference('RerankService'),
        }),
      },
    ),
    Metric: {
      description: 'Metric of similarity. Default: the metric of the source model.',
      type: 'string',
      enum: ['cosine', 'dot_product', 'euclidean'],
    },
    SourceModel: {
      description: 'Model that computed the vectors.',
      type: 'string',
      enum: [
        ...['ada002', 'bert', 'cohere-v3', 'gecko', 'nv-qa-4'],
        ...['openai-v3-large', 'openai-v3-small', 'other'],
      ],
      default: 'other',
    },
    Analyzer: {
      description:
        'Splits texts into terms: the name of a built-in analyzer, or a definition.',
      oneOf: [{ type: 'string' }, { type: 'object' }],
    },
    EmbeddingService: shape(
      'Service that embeds texts; findEmbeddingProviders lists the providers.',
      {
        provider: { type: 'string' },
        modelName: { type: 'string' },
        authentication: { type: 'object', additionalProperties: { type: 'string' } },
        parameters: open(),
      },
      ['provider'],
    ),
    RerankService: shape(
      'Service that reranks results; findRerankingProviders lists the providers.',
      { provider: { type: 'string' }, modelName: { type: 'string' } },
    ),
  }
}

function tableSchemas(limits: Limits): Readonly<Record<string, Schema>> {
  const columns: Schema = {
    type: 'object',
    additionalProperties: schemaReference('ColumnType'),
    maxProperties: limits.columnsMax,
  }
  return {
    TableDefinition: shape(
      undefined,
      {
        columns: { ...columns, minProperties: 1 },
        primaryKey: {
          description:
            'One column, or the partition columns and the sort columns within a partition.',
          oneOf: [
            { type: 'string' },
            shape(
              undefined,
              {
                partitionBy: { ...names(), minItems: 1 },
                partitionSort: {
                  type: 'object',
                  additionalProperties: { type: 'integer', enum: [1, -1] },
                },
              },
              ['partitionBy'],
            ),
          ],
        },
      },
      ['columns', 'primaryKey'],
    ),
    PrimitiveType: {
      type: 'string',
      enum: [
        ...['ascii', 'bigint', 'blob', 'boolean', 'date', 'decimal', 'double', 'duration'],
        ...['float', 'inet', 'int', 'smallint', 'text', 'time', 'timestamp', 'tinyint'],
        ...['uuid', 'varint'],
      ],
    },
    UserDefinedType: shape(
      'A user-defined type.',
      { type: { type: 'string', enum: ['userDefined'] }, udtName: { type: 'string' } },
      ['type', 'udtName'],
    ),
    ElementType: {
      oneOf: [schemaReference('PrimitiveType'), schemaReference('UserDefinedType')],
    },
    ColumnType: {
      oneOf: [
        schemaReference('PrimitiveType'),
        shape(undefined, { type: schemaReference('PrimitiveType') }, ['type']),
        shape(
          undefined,
          { type: { enum: ['list', 'set'] }, valueType: schemaReference('ElementType') },
          ['type', 'valueType'],
        ),
        shape(
          undefined,
          {
            type: { enum: ['map'] },
            keyType: schemaReference('PrimitiveType'),
            valueType: schemaReference('ElementType'),
          },
          ['type', 'keyType', 'valueType'],
        ),
        shape(
          undefined,
          {
            type: { enum: ['vector'] },
            dimension: positiveNumber(limits.vectorDimensionMax),
            service: schemaReference('EmbeddingService'),
          },
          ['type'],
        ),
        schemaReference('UserDefinedType'),
      ],
    },
    FieldTypes: shape(
      undefined,
      {
        fields: {
          type: 'object',
          additionalProperties: {
            oneOf: [
              schemaReference('PrimitiveType'),
              shape(undefined, { type: schemaReference('PrimitiveType') }, ['type']),
            ],
          },
          minProperties: 1,
        },
      },
      ['fields'],
    ),
    FieldNames: shape(
      undefined,
      { fields: { type: 'object', additionalProperties: { type: 'string' } } },
      ['fields'],
    ),
    TableOperation: {
      ...shape(undefined, {
        add: shape(undefined, { columns }, ['columns']),
        drop: shape(undefined, { columns: names() }, ['columns']),
        addVectorize: shape(
          undefined,
          {
            columns: {
              type: 'object',
              additionalProperties: schemaReference('EmbeddingService'),
            },
          },
          ['columns'],
        ),
        dropVectorize: shape(undefined, { columns: names() }, ['columns']),
      }),
      minProperties: 1,
      maxProperties: 1,
    },
    IndexDefinition: indexOf(
      {
        description:
          'A column. For the keys or values of a map: {"<column>": "$keys"} or ' +
          '{"<column>": "$values"}.',
        oneOf: [
          { type: 'string' },
          {
            type: 'object',
            additionalProperties: { type: 'string', enum: ['$keys', '$values'] },
            minProperties: 1,
            maxProperties: 1,
          },
        ],
      },
      {
        ascii: { type: 'boolean', default: false },
        caseSensitive: { type: 'boolean', default: true },
        normalize: { type: 'boolean', default: false },
      },
    ),
    VectorIndexDefinition: indexOf(
      { type: 'string' },
      { metric: schemaReference('Metric'), sourceModel: schemaReference('SourceModel') },
    ),
    TextIndexDefinition: indexOf(
      { type: 'string' },
      { analyzer: schemaReference('Analyzer') },
    ),
  }
}

function indexOf(column: Schema, options: Readonly<Record<string, Schema>>): Schema {
  return shape(undefined, { column, options: shape(undefined, options) }, ['column'])
}

/** A schema for an object that may have only these members. */
function shape(
  description: string | undefined,
  properties: Readonly<Record<string, Schema>>,
  required?: readonly string[],
): Schema {
  return {
    ...(description !== undefined && { description }),
    type: 'object',
    properties,
    ...(required !== undefined && { required }),
    additionalProperties: false,
  }
}

/** A schema for an object with arbitrary members. */
function open(description?: string, ...examples: readonly object[]): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    ...(examples.length > 0 && { examples }),
  }
}

function names(): Schema {
  return { type: 'array', items: { type: 'string' } }
}

function positiveNumber(maximum: number): Schema {
  return { type: 'integer', minimum: 1, maximum }
}
