/**
 * What clauses and definitions look like: the parts of commands that have a language of their
 * own. Loose where that language is rich: its grammar is in the reference, and in its errors.
 */
import type { Limits } from '../../limits.ts'
import { refer, type Schema } from './schema.ts'

export function clauseSchemas(limits: Limits): Readonly<Record<string, Schema>> {
  return {
    Document: open(
      'A document of any shape, with an _id or without, and with $vector, $vectorize and ' +
        '$lexical beside its fields; or a row: a value for each column.',
    ),
    Filter: open(
      'Paths with the values or operators that must hold, such as {"year": {"$gt": 1960}}; ' +
        'and $and, $or, $not. Empty: everything matches.',
    ),
    Sort: open(
      'Paths with 1 (ascending) or -1 (descending). Or one search: by $vector, $vectorize ' +
        'or $lexical in a collection, by the name of an indexed column in a table.',
    ),
    Projection: open('Paths with 1 to show them or 0 to leave them out, or {"*": 1}.'),
    Update: shape('Operators, each with the paths that it changes.', {
      ...Object.fromEntries(updateOperators.map((operator) => [operator, open()])),
    }),
    HybridSort: shape(
      'One text for both searches; or the text or vector and the words apart.',
      {
        $hybrid: {
          oneOf: [
            { type: 'string' },
            shape(
              'What each search looks for: $lexical, and $vectorize or $vector.',
              {
                $vector: refer('Vector'),
                $vectorize: { type: 'string' },
                $lexical: { type: 'string' },
              },
              ['$lexical'],
            ),
          ],
        },
      },
      ['$hybrid'],
    ),
    Vector: {
      description: 'Numbers, or as {"$binary": "…"} their bytes in Base64.',
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
        wholeNumber(1, limits.hybridLimitMax),
        shape(
          undefined,
          {
            $vector: wholeNumber(1, limits.hybridLimitMax),
            $lexical: wholeNumber(1, limits.hybridLimitMax),
          },
          ['$vector', '$lexical'],
        ),
      ],
    },
    ...collectionSchemas(limits),
    ...tableSchemas(limits),
  }
}

export const updateOperators = [
  ...['$addToSet', '$currentDate', '$inc', '$max', '$min', '$mul'],
  ...['$pop', '$pull', '$pullAll', '$push', '$rename', '$set', '$setOnInsert', '$unset'],
]

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
    CollectionOptions: shape('All of it is chosen once, when the collection is created.', {
      defaultId: shape('The kind of _id that is made where a document has none.', {
        type: { type: 'string', enum: ['uuid', 'uuidv6', 'uuidv7', 'objectId'] },
      }),
      vector: shape('Vectors of one length, and how they are compared.', {
        dimension: wholeNumber(1, limits.vectorDimensionMax),
        metric: refer('Metric'),
        sourceModel: refer('SourceModel'),
        service: refer('EmbeddingService'),
      }),
      indexing: {
        description: 'Paths that can be filtered and sorted on, or those that cannot.',
        oneOf: [
          shape(undefined, { allow: names() }, ['allow']),
          shape(undefined, { deny: names() }, ['deny']),
        ],
      },
      lexical: shape('Search by words.', {
        enabled: { type: 'boolean' },
        analyzer: refer('Analyzer'),
      }),
      rerank: shape('The reranker of findAndRerank.', {
        enabled: { type: 'boolean' },
        service: refer('RerankService'),
      }),
    }),
    Metric: {
      description: 'How vectors are compared. Left out: by the model that made them.',
      type: 'string',
      enum: ['cosine', 'dot_product', 'euclidean'],
    },
    SourceModel: {
      description: 'The model that made the vectors.',
      type: 'string',
      enum: [
        ...['ada002', 'bert', 'cohere-v3', 'gecko', 'nv-qa-4'],
        ...['openai-v3-large', 'openai-v3-small', 'other'],
      ],
      default: 'other',
    },
    Analyzer: {
      description: 'How texts become terms: the name of an analyzer, or how to make one.',
      oneOf: [{ type: 'string' }, { type: 'object' }],
    },
    EmbeddingService: shape(
      'Makes vectors of texts; findEmbeddingProviders lists what there is.',
      {
        provider: { type: 'string' },
        modelName: { type: 'string' },
        authentication: { type: 'object', additionalProperties: { type: 'string' } },
        parameters: open(),
      },
      ['provider'],
    ),
    RerankService: shape(
      'Orders results anew; findRerankingProviders lists what there is.',
      { provider: { type: 'string' }, modelName: { type: 'string' } },
    ),
  }
}

function tableSchemas(limits: Limits): Readonly<Record<string, Schema>> {
  const columns: Schema = {
    type: 'object',
    additionalProperties: refer('ColumnType'),
    maxProperties: limits.columnsMax,
  }
  return {
    TableDefinition: shape(
      undefined,
      {
        columns: { ...columns, minProperties: 1 },
        primaryKey: {
          description:
            'One column; or columns that make partitions, and the order in them.',
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
      'A type of your own.',
      { type: { type: 'string', enum: ['userDefined'] }, udtName: { type: 'string' } },
      ['type', 'udtName'],
    ),
    ElementType: { oneOf: [refer('PrimitiveType'), refer('UserDefinedType')] },
    ColumnType: {
      oneOf: [
        refer('PrimitiveType'),
        shape(undefined, { type: refer('PrimitiveType') }, ['type']),
        shape(
          undefined,
          { type: { enum: ['list', 'set'] }, valueType: refer('ElementType') },
          ['type', 'valueType'],
        ),
        shape(
          undefined,
          {
            type: { enum: ['map'] },
            keyType: refer('PrimitiveType'),
            valueType: refer('ElementType'),
          },
          ['type', 'keyType', 'valueType'],
        ),
        shape(
          undefined,
          {
            type: { enum: ['vector'] },
            dimension: wholeNumber(1, limits.vectorDimensionMax),
            service: refer('EmbeddingService'),
          },
          ['type'],
        ),
        refer('UserDefinedType'),
      ],
    },
    FieldTypes: shape(
      undefined,
      {
        fields: {
          type: 'object',
          additionalProperties: {
            oneOf: [
              refer('PrimitiveType'),
              shape(undefined, { type: refer('PrimitiveType') }, ['type']),
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
            columns: { type: 'object', additionalProperties: refer('EmbeddingService') },
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
        description: 'A column; of a map also {"<column>": "$keys"} or "$values".',
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
      { metric: refer('Metric'), sourceModel: refer('SourceModel') },
    ),
    TextIndexDefinition: indexOf({ type: 'string' }, { analyzer: refer('Analyzer') }),
  }
}

function indexOf(column: Schema, options: Readonly<Record<string, Schema>>): Schema {
  return shape(undefined, { column, options: shape(undefined, options) }, ['column'])
}

/** An object of these members and no others. */
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

/** An object of any members. */
function open(description?: string): Schema {
  return { type: 'object', ...(description !== undefined && { description }) }
}

function names(): Schema {
  return { type: 'array', items: { type: 'string' } }
}

function wholeNumber(minimum: number, maximum: number): Schema {
  return { type: 'integer', minimum, maximum }
}
