/**
 * The API as an OpenAPI document, generated from the same registry that parses requests. Commands,
 * fields, types, defaults and bounds in the document are therefore always correct.
 */
import type { Command, CommandLevel } from '../../commands/dispatch/define.ts'
import { commandsAt, deprecated } from '../../commands/dispatch/registry.ts'
import type { Limits } from '../../limits.ts'
import { clauseSchemas } from './clause-schemas.ts'
import { wordsOfCommands } from './command-words.ts'
import { describeFields } from './field-schemas.ts'
import { replySchemas } from './reply-schemas.ts'
import { schemaReference, type Schema } from './schema.ts'

export interface ApiDescription {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly paths: Readonly<Record<string, PathDescription>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly headers: Readonly<Record<string, unknown>>
    readonly responses: Readonly<Record<string, unknown>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

export interface PathDescription {
  readonly summary: string
  readonly parameters: readonly { readonly $ref: string }[]
  readonly post: {
    readonly operationId: string
    readonly summary: string
    readonly requestBody: {
      readonly required: true
      readonly content: {
        readonly 'application/json': {
          readonly schema: Schema
          readonly examples: Readonly<Record<string, ExampleDescription>>
        }
      }
    }
    readonly responses: Readonly<Record<string, { readonly $ref: string }>>
  }
}

export interface ExampleDescription {
  readonly summary: string
  readonly value: Readonly<Record<string, unknown>>
  /** The path to which the example is sent. */
  readonly 'x-path': string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'header'
  readonly required?: true
  readonly description: string
  readonly schema: Schema
}

export function describeApi(limits: Limits, version: string): ApiDescription {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stela',
      version,
      summary:
        'A document and table database with vector, lexical and hybrid search. ' +
        'Implements the Data API',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'Default prefix' },
      {
        url: '/api/json',
        description: 'The same API, under a prefix that some clients use',
      },
    ],
    security: [{ Token: [] }],
    paths: {
      '/v1': describePath('general', 'Commands on keyspaces and on the server', []),
      '/v1/{keyspace}': describePath(
        'keyspace',
        'Commands on the collections, tables and types of a keyspace',
        ['keyspace'],
      ),
      '/v1/{keyspace}/{name}': describePath(
        'target',
        'Commands on documents of a collection or rows of a table',
        ['keyspace', 'name'],
      ),
    },
    components: {
      securitySchemes: {
        Token: {
          type: 'apiKey',
          in: 'header',
          name: 'Token',
          description: 'A token of the server, such as the administrator token.',
        },
      },
      parameters,
      headers: {
        'X-Request-Id': {
          description: 'Id of the request in logs and traces.',
          schema: { type: 'string' },
        },
        'Retry-After': {
          description: 'Seconds to wait before a retry.',
          schema: { type: 'integer', minimum: 0 },
        },
      },
      responses,
      schemas: {
        ...commandSchemas(limits),
        ...clauseSchemas(limits),
        ...replySchemas,
      },
    },
  }
}

const introduction =
  'Every operation is a command: a JSON object with one key, the name of the command, ' +
  'whose value contains the fields. Send it with POST to the path of its target. An ' +
  'optional field can also be null.'

function describePath(
  level: CommandLevel,
  summary: string,
  pathParameters: readonly string[],
): PathDescription {
  const names = Object.keys(wordsOfCommands[level])
  return {
    summary,
    parameters: [...pathParameters, ...headerParameters].map((name) => ({
      $ref: `#/components/parameters/${name}`,
    })),
    post: {
      operationId: `${level}Command`,
      summary,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              oneOf: names.map((name) => schemaReference(schemaName(name, level))),
            },
            examples: examplesOf(level),
          },
        },
      },
      responses: Object.fromEntries(
        Object.keys(responses).map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  }
}

/**
 * Examples by command name. The second and later examples of a command have a number in their name.
 */
function examplesOf(level: CommandLevel): Record<string, ExampleDescription> {
  const described: Record<string, ExampleDescription> = {}
  for (const [command, { examples }] of Object.entries(wordsOfCommands[level]))
    for (const [i, { says, path, fields }] of examples.entries())
      described[i === 0 ? command : `${command}-${i + 1}`] = {
        summary: says,
        value: { [command]: fields },
        'x-path': path,
      }
  return described
}

/**
 * The name of a command's schema. It must differ from the names of clauses and replies. A command
 * that exists at two levels needs two names.
 */
function schemaName(command: string, level: CommandLevel): string {
  const isSecond = level === 'target' && command in wordsOfCommands.keyspace
  return `${command}${isSecond ? 'OfTable' : ''}Command`
}

function commandSchemas(limits: Limits): Record<string, Schema> {
  const schemas: Record<string, Schema> = {}
  for (const level of ['general', 'keyspace', 'target'] as const)
    for (const [name, { says }] of Object.entries(wordsOfCommands[level])) {
      const command = commandsAt[level].get(name)
      if (command === undefined) continue
      schemas[schemaName(name, level)] = {
        type: 'object',
        description: says,
        properties: { [name]: describeFields(name, '', command.fields, limits) },
        required: [name],
        additionalProperties: false,
        ...(deprecated.has(name) && { deprecated: true }),
        'x-does': command.does,
        'x-on': targetsOf(command),
      }
    }
  return schemas
}

function targetsOf(command: Command): readonly string[] {
  if (command.level !== 'target') return []
  return [
    ...(command.collection === undefined ? [] : ['collection']),
    ...(command.table === undefined ? [] : ['table']),
  ]
}

const parameters: Readonly<Record<string, Parameter>> = {
  keyspace: {
    name: 'keyspace',
    in: 'path',
    required: true,
    description: 'The name of a keyspace.',
    schema: { type: 'string', minLength: 1 },
  },
  name: {
    name: 'name',
    in: 'path',
    required: true,
    description: 'The name of a collection or table.',
    schema: { type: 'string', minLength: 1 },
  },
  requestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Id of the request in logs and traces. Default: generated by the server.',
    schema: { type: 'string', pattern: '^[\\w.:/+=@-]{1,64}$' },
  },
  embeddingKey: {
    name: 'x-embedding-api-key',
    in: 'header',
    description: 'API key of the embedding service of a collection or column.',
    schema: { type: 'string' },
  },
  rerankingKey: {
    name: 'reranking-api-key',
    in: 'header',
    description: 'API key of the reranking service of a collection.',
    schema: { type: 'string' },
  },
  tracing: {
    name: 'Feature-Flag-request-tracing',
    in: 'header',
    description: 'true: the reply contains a trace of the request in status.trace.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
}

const headerParameters = ['requestId', 'embeddingKey', 'rerankingKey', 'tracing']

const envelope = { 'application/json': { schema: schemaReference('Reply') } }
const requestId = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
const retryAfter = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }

const responses: Readonly<Record<string, unknown>> = {
  200: {
    description: 'The command was executed. The reply may contain errors.',
    headers: requestId,
    content: envelope,
  },
  400: {
    description: 'The request has two hosts, or is not valid HTTP.',
    headers: requestId,
    content: envelope,
  },
  401: {
    description: 'The token is missing or invalid, or does not permit the command.',
    headers: requestId,
    content: envelope,
  },
  404: {
    description: 'The path or the database does not exist; the body names which.',
    headers: requestId,
    content: envelope,
  },
  405: {
    description: 'The method is not supported. Send commands with POST.',
    headers: requestId,
    content: envelope,
  },
  408: { description: 'The request did not arrive in time.', content: envelope },
  413: { description: 'The body is too large.', headers: requestId, content: envelope },
  415: {
    description: 'The content type is not JSON.',
    headers: requestId,
    content: envelope,
  },
  429: {
    description:
      'Too many commands of this token, or too many invalid tokens from this address.',
    headers: { ...requestId, ...retryAfter },
    content: envelope,
  },
  431: { description: 'The headers are too large.', content: envelope },
  503: {
    description:
      'The server is overloaded: the limit of commands, request bodies or replies is reached.',
    headers: { ...requestId, ...retryAfter },
    content: envelope,
  },
}
