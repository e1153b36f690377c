/** JSON schemas of replies: the envelope, errors, and traces. */
import { schemaReference, type Schema } from './schema.ts'

const namesOrDefinitions: Schema = {
  type: 'array',
  items: { type: ['string', 'object'] },
  description: 'Names, or definitions with options.explain.',
}

export const replySchemas: Readonly<Record<string, Schema>> = {
  Reply: {
    description: 'The envelope of all replies. Empty members are left out.',
    type: 'object',
    properties: {
      data: {
        description: 'The documents or rows found. Absent if there are errors.',
        oneOf: [
          {
            type: 'object',
            properties: {
              documents: { type: 'array', items: { type: 'object' } },
              nextPageState: {
                type: ['string', 'null'],
                description: 'Send this as options.pageState to get the next page.',
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
        description: 'Errors of the command. The HTTP status is 200 for most of them.',
        type: 'array',
        items: schemaReference('Error'),
        minItems: 1,
      },
    },
    additionalProperties: false,
  },
  Status: {
    description:
      'Results other than documents, such as counts and names; they depend on the command.',
    type: 'object',
    properties: {
      ok: { type: 'integer', enum: [0, 1], description: 'Whether a schema was changed.' },
      count: { type: 'integer', minimum: 0 },
      moreData: {
        type: 'boolean',
        description: 'Whether more records match than were counted or changed.',
      },
      nextPageState: {
        type: 'string',
        description: 'Send this as options.pageState to continue updateMany.',
      },
      insertedIds: { type: 'array' },
      documentResponses: { type: 'array', items: { type: 'object' } },
      matchedCount: { type: 'integer', minimum: 0 },
      modifiedCount: { type: 'integer', minimum: 0 },
      deletedCount: {
        type: 'integer',
        minimum: -1,
        description: '-1: the deleted records were not counted.',
      },
      upsertedId: { description: 'The _id of the document that an upsert inserted.' },
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
    description: 'An error or a warning. Programs can compare its code and scope.',
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Unique id of this error.' },
      family: { type: 'string', enum: ['REQUEST', 'SERVER'] },
      scope: { type: 'string' },
      errorCode: { type: 'string' },
      title: { type: 'string' },
      message: { type: 'string' },
      documentIds: {
        type: 'array',
        description: 'The _id of each document that the error concerns.',
      },
    },
    required: ['id', 'family', 'scope', 'errorCode', 'title', 'message'],
    additionalProperties: false,
  },
  Trace: {
    description: 'Trace of the request. Present only with the feature request-tracing.',
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
      data: {
        type: 'object',
        description: 'Present only with the feature request-tracing-full.',
      },
    },
    required: ['eventId', 'timestamp', 'elapsedMicroseconds', 'message'],
    additionalProperties: false,
  },
}
