/** Request and response formats of each embedding service. */
import { encodePiece, sign } from './aws-signature.ts'
import { at, byIndex, each } from './reply-shape.ts'

/** The request, independent of the provider. */
export interface EmbeddingAsk {
  readonly model: string
  readonly dimension: number
  readonly texts: readonly string[]
  readonly purpose: 'index' | 'search'
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface EmbeddingWire {
  /** Path of the model, appended to the URL. */
  readonly path?: (model: string) => string
  /** Members with the value undefined are not sent. */
  readonly body: (ask: EmbeddingAsk) => object
  readonly headers?: (ask: EmbeddingAsk) => Readonly<Record<string, string>>
  /** Headers with the keys, which are in the order of the provider's tokens. */
  readonly authorize: (
    keys: readonly string[],
    request: AuthorizedRequest,
  ) => Readonly<Record<string, string>>
  /** Whether the secret key only signs requests, so that no receiver learns it. */
  readonly keepsKeys?: boolean
  /** One entry per text; undefined when the response has another format. */
  readonly vectors: (reply: unknown) => unknown
  /** JSON pointers to the message in an error response. */
  readonly errorAt: readonly string[]
}

export interface AuthorizedRequest {
  readonly url: URL
  readonly body: string
  readonly ask: EmbeddingAsk
}

export function bearer([key]: readonly string[]): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

function keyHeader(name: string): EmbeddingWire['authorize'] {
  return ([key]) => ({ [name]: key! })
}

/** OpenAI's response format, which many services share. */
function dataOf(reply: unknown): unknown {
  return byIndex(at(reply, '/data'), 'embedding')
}

function bareVectors(reply: unknown): unknown {
  return reply
}

const openai: EmbeddingWire = {
  path: () => 'embeddings',
  body: ({ texts, model, dimension }) => ({
    input: texts,
    model,
    // text-embedding-ada-002 has a fixed dimension and rejects this parameter.
    dimensions: model.endsWith('-ada-002') ? undefined : dimension,
  }),
  headers: ({ parameters: { organizationId, projectId } }) => ({
    ...(typeof organizationId === 'string' && { 'openai-organization': organizationId }),
    ...(typeof projectId === 'string' && { 'openai-project': projectId }),
  }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/error/message'],
}

/** Azure OpenAI: the URL determines the deployed model. */
const azureOpenAI: EmbeddingWire = {
  body: openai.body,
  authorize: keyHeader('api-key'),
  vectors: dataOf,
  errorAt: ['/error/message'],
}

/**
 * Services with the API of OpenAI. Not all of their models support several dimensions, so
 * `dimensions` is sent only if the parameter sendDimension is set.
 */
const openaiCompatible: EmbeddingWire = {
  path: () => 'embeddings',
  body: ({ texts, model, dimension, parameters }) => ({
    input: texts,
    model,
    dimensions: parameters['sendDimension'] === true ? dimension : undefined,
  }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/error/message', '/message', '/error', '/detail'],
}

const bedrock: EmbeddingWire = {
  path: (model) => `model/${encodePiece(model)}/invoke`,
  body: ({ texts: [inputText], model, dimension }) => ({
    inputText,
    dimensions: model.includes('-v2') ? dimension : undefined,
  }),
  authorize: ([accessId, secretKey], { url, body, ask }) =>
    sign(
      {
        url,
        body,
        region: String(ask.parameters['region']),
        service: 'bedrock',
        at: new Date(),
      },
      { 'content-type': 'application/json' },
      { accessId: accessId!, secretKey: secretKey! },
    ),
  keepsKeys: true,
  vectors: (reply) => [at(reply, '/embedding')],
  errorAt: ['/message', '/Message'],
}

const huggingface: EmbeddingWire = {
  body: ({ texts }) => ({ inputs: texts, options: { waitForModel: true } }),
  authorize: bearer,
  vectors: bareVectors,
  errorAt: ['/error'],
}

const huggingfaceDedicated: EmbeddingWire = {
  body: ({ texts }) => ({ input: texts }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/message'],
}

const nvidia: EmbeddingWire = {
  body: ({ texts, model, purpose }) => ({
    input: texts,
    model,
    input_type: purpose === 'index' ? 'passage' : 'query',
  }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/message'],
}

const jinaAI: EmbeddingWire = {
  body: ({ texts, model, dimension, parameters }) => ({
    input: texts,
    model,
    dimensions: model.includes('-v2-') ? undefined : dimension,
    task: parameters['task'],
    late_chunking: parameters['late_chunking'],
  }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/detail'],
}

/** Voyage AI. Its models from version 3 on support several dimensions. */
const voyageAI: EmbeddingWire = {
  body: ({ texts, model, dimension, purpose, parameters }) => ({
    input: texts,
    model,
    input_type: purpose === 'index' ? 'document' : 'query',
    truncation: parameters['autoTruncate'],
    output_dimension: /-3\b/.test(model) ? dimension : undefined,
  }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/detail'],
}

const mistral: EmbeddingWire = {
  body: ({ texts, model }) => ({ input: texts, model, encoding_format: 'float' }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/message', '/detail'],
}

const upstageAI: EmbeddingWire = {
  body: ({ texts: [input], model, purpose }) => ({
    input,
    model: `${model}-${purpose === 'index' ? 'passage' : 'query'}`,
  }),
  authorize: bearer,
  vectors: dataOf,
  errorAt: ['/message', '/error/message'],
}

const vertexai: EmbeddingWire = {
  path: (model) => `${model}:predict`,
  body: ({ texts, purpose, parameters }) => ({
    instances: texts.map((content) => ({ content, task_type: googleTask(purpose) })),
    ...(parameters['autoTruncate'] !== undefined && {
      parameters: { autoTruncate: parameters['autoTruncate'] },
    }),
  }),
  authorize: bearer,
  vectors: (reply) => each(at(reply, '/predictions'), '/embeddings/values'),
  errorAt: ['/error/message'],
}

const google: EmbeddingWire = {
  path: (model) => `${model}:batchEmbedContents`,
  body: ({ texts, model, dimension, purpose }) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      taskType: googleTask(purpose),
      outputDimensionality: dimension,
    })),
  }),
  authorize: keyHeader('x-goog-api-key'),
  vectors: (reply) => each(at(reply, '/embeddings'), '/values'),
  errorAt: ['/error/message'],
}

function googleTask(purpose: EmbeddingAsk['purpose']): string {
  return purpose === 'index' ? 'RETRIEVAL_DOCUMENT' : 'RETRIEVAL_QUERY'
}

const cohere: EmbeddingWire = {
  path: () => 'embed',
  body: ({ texts, model, dimension, purpose }) => ({
    texts,
    model,
    input_type: purpose === 'index' ? 'search_document' : 'search_query',
    embedding_types: ['float'],
    output_dimension: model === 'embed-v4.0' ? dimension : undefined,
  }),
  authorize: bearer,
  vectors: (reply) => at(reply, '/embeddings/float'),
  errorAt: ['/message', '/data'],
}

const ollama: EmbeddingWire = {
  path: () => 'api/embed',
  body: ({ texts, model }) => ({ model, input: texts }),
  authorize: bearer,
  vectors: (reply) => at(reply, '/embeddings'),
  errorAt: ['/error'],
}

const textEmbeddingsInference: EmbeddingWire = {
  path: () => 'embed',
  body: ({ texts, parameters }) => ({
    inputs: texts,
    truncate: parameters['autoTruncate'],
  }),
  authorize: bearer,
  vectors: bareVectors,
  errorAt: ['/error', '/message'],
}

/** Protocols by name of the provider. */
export const embeddingWires = {
  openai,
  azureOpenAI,
  bedrock,
  huggingface,
  huggingfaceDedicated,
  nvidia,
  jinaAI,
  voyageAI,
  mistral,
  upstageAI,
  vertexai,
  cohere,
  google,
  openaiCompatible,
  ollama,
  textEmbeddingsInference,
} as const satisfies Readonly<Record<string, EmbeddingWire>>
