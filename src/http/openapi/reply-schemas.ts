/** JSON schemas of replies: the envelope, errors, and traces. */
import { schemaReference, type Schema } from './schema.ts'

const namesOrDefinitions: Schema = {
  type: 'array',
  items: { type: ['string', 'object'] },
  description: 'Names; with options.explain definitions.',
}

export const replySchemas: Readonly<Record<string, Schema>> = {
  Reply: {
    description: 'Members that would be empty are left out.',
    type: 'object',
    properties: {
      data: {
        description: 'What was found. Absent beside errors.',
        oneOf: [
          {
            type: 'object',
            properties: {
              documents: { type: 'array', items: { type: 'object' } },
              nextPageState: {
                type: ['string', 'null'],
                description: 'What to send as options.pageState for the next page.',
              },
            },
            required: ['documents', 'nextPageState'],
          },
          {
            type: 'object',
            properties: { document: { type: ['object', 'null'] } },
            required: ['document'],
          },
        ],
      },
      status: schemaReference('Status'),
      errors: {
        description: 'What went wrong. The HTTP status is 200 all the same, but for a few.',
        type: 'array',
        items: schemaReference('Error'),
        minItems: 1,
      },
    },
    additionalProperties: false,
  },
  Status: {
    description: 'Counts, names and the like: each command has its own.',
    type: 'object',
    properties: {
      ok: { type: 'integer', enum: [0, 1], description: 'Whether a schema was changed.' },
      count: { type: 'integer', minimum: 0 },
      moreData: { type: 'boolean', description: 'Whether there is more of it.' },
      nextPageState: { type: 'string', description: 'Where updateMany goes on.' },
      insertedIds: { type: 'array' },
      documentResponses: { type: 'array', items: { type: 'object' } },
      matchedCount: { type: 'integer', minimum: 0 },
      modifiedCount: { type: 'integer', minimum: 0 },
      deletedCount: {
        type: 'integer',
        minimum: -1,
        description: '-1: they were not counted.',
      },
      upsertedId: { description: 'The _id of a document that an upsert inserted.' },
      keyspaces: { type: 'array', items: { type: 'string' } },
      namespaces: { type: 'array', items: { type: 'string' } },
      collections: namesOrDefinitions,
      tables: namesOrDefinitions,
      types: namesOrDefinitions,
      indexes: namesOrDefinitions,
      embeddingProviders: { type: 'object' },
      rerankingProviders: { type: 'object' },
      sortVector: { type: ['array', 'null'], items: { type: 'number' } },
      primaryKeySchema: { type: 'object' },
      projectionSchema: { type: 'object' },
      warnings: { type: 'array', items: schemaReference('Error') },
      trace: schemaReference('Trace'),
    },
  },
  Error: {
    description: 'An error or a warning. Its code and scope tell programs what happened.',
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Made for this one occasion.' },
      family: { type: 'string', enum: ['REQUEST', 'SERVER'] },
      scope: { type: 'string' },
      errorCode: { type: 'string' },
      title: { type: 'string' },
      message: { type: 'string' },
      documentIds: { type: 'array', description: 'The documents that it is about.' },
    },
    required: ['id', 'family', 'scope', 'errorCode', 'title', 'message'],
    additionalProperties: false,
  },
  Trace: {
    description: 'How the request went. There with the feature request-tracing only.',
    type: 'object',
    properties: {
      requestId: { type: 'string' },
      tenantId: { type: 'string' },
      startedAt: { type: 'string', format: 'date-time' },
      durationMicroseconds: { type: 'integer', minimum: 0 },
      events: { type: 'array', items: schemaReference('TraceEvent') },
    },
    required: ['requestId', 'tenantId', 'startedAt', 'durationMicroseconds', 'events'],
    additionalProperties: false,
  },
  TraceEvent: {
    type: 'object',
    properties: {
      eventId: { type: 'string' },
      timestamp: { type: 'string', format: 'date-time' },
      elapsedMicroseconds: { type: 'integer', minimum: 0 },
      message: { type: 'string' },
      data: { type: 'object', description: 'There with request-tracing-full only.' },
    },
    required: ['eventId', 'timestamp', 'elapsedMicroseconds', 'message'],
    additionalProperties: false,
  },
}
