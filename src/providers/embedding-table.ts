/** The table of known embedding services. */
import {
  keyByHeader,
  keyIfAny,
  keyPair,
  noKey,
  type Authentications,
} from './authentication.ts'
import type {
  EmbeddingModel,
  ModelDimension,
  ProviderParameter,
} from './embedding-providers.ts'
import type { embeddingWires } from './embedding-wires.ts'
import { defaultRetryPolicy, type RetryPolicy } from './provider-call.ts'
import { baseUrlName } from './provider-url.ts'

export type EmbeddingProviderName = keyof typeof embeddingWires

export interface EmbeddingRow {
  readonly displayName: string
  /** URL of the provider's own service; "{x}" is replaced by parameter x. */
  readonly url?: string
  /**
   * The URL to call if it differs from `url`. Null: the service cannot be called until the operator
   * configures a URL.
   */
  readonly calls?: string | null
  readonly authentication: Authentications
  /** Maximum number of texts per request. */
  readonly batchSize: number
  readonly retryPolicy: RetryPolicy
  readonly parameters: readonly ProviderParameter[]
  readonly models: readonly EmbeddingModel[]
  readonly defaultModel?: string
}

const hosted = {
  authentication: keyByHeader(),
  retryPolicy: defaultRetryPolicy,
  parameters: [],
} as const

/** Self-hosted services, which may load the model with the first request. */
const selfHosted = {
  authentication: keyIfAny,
  retryPolicy: { ...defaultRetryPolicy, timeoutMs: 60_000, retriesMax: 1 },
  batchSize: 32,
} as const

export const embeddingTable: Readonly<Record<EmbeddingProviderName, EmbeddingRow>> = {
  openai: {
    ...hosted,
    displayName: 'OpenAI',
    url: 'https://api.openai.com/v1/',
    batchSize: 2048,
    parameters: [
      text('organizationId', 'Organization ID', {
        hint: 'org-…',
        help: 'The organization to bill, if the key belongs to several.',
      }),
      text('projectId', 'Project ID', {
        hint: 'proj_…',
        help: 'The project to bill, if the key belongs to several.',
      }),
    ],
    models: [
      model('text-embedding-3-small', range(2, 1536, 1536)),
      model('text-embedding-3-large', range(256, 3072, 3072)),
      model('text-embedding-ada-002', fixed(1536)),
    ],
  },
  azureOpenAI: {
    ...hosted,
    displayName: 'Azure OpenAI',
    url:
      'https://{resourceName}.openai.azure.com/openai/deployments/{deploymentId}' +
      '/embeddings?api-version=2024-02-01',
    authentication: keyByHeader('api-key'),
    batchSize: 2048,
    parameters: [
      requiredText('resourceName', 'Resource name', {
        hint: 'my-resource',
        help: 'The name of the Azure OpenAI resource, the first part of its host.',
      }),
      requiredText('deploymentId', 'Deployment ID', {
        hint: 'my-deployment',
        help: 'The deployment name of the model.',
      }),
    ],
    models: [
      model('text-embedding-3-small', range(2, 1536, 1536)),
      model('text-embedding-3-large', range(256, 3072, 1536)),
      model('text-embedding-ada-002', fixed(1536)),
    ],
  },
  bedrock: {
    ...hosted,
    displayName: 'Amazon Bedrock',
    calls: 'https://bedrock-runtime.{region}.amazonaws.com',
    authentication: keyPair,
    batchSize: 1,
    parameters: [
      requiredText('region', 'Region', {
        hint: 'us-east-1',
        help: 'The AWS region of the model.',
      }),
    ],
    models: [
      model('amazon.titan-embed-text-v1', fixed(1536)),
      model('amazon.titan-embed-text-v2:0', oneOf([256, 512, 1024], 1024)),
    ],
  },
  huggingface: {
    ...hosted,
    displayName: 'Hugging Face - Serverless',
    url:
      'https://router.huggingface.co/hf-inference/models/{modelId}' +
      '/pipeline/feature-extraction',
    batchSize: 32,
    models: [
      model('sentence-transformers/all-MiniLM-L6-v2', fixed(384)),
      model('intfloat/multilingual-e5-large', fixed(1024)),
      model('intfloat/multilingual-e5-large-instruct', fixed(1024)),
      model('BAAI/bge-small-en-v1.5', fixed(384)),
      model('BAAI/bge-base-en-v1.5', fixed(768)),
      model('BAAI/bge-large-en-v1.5', fixed(1024)),
    ],
  },
  huggingfaceDedicated: {
    ...hosted,
    displayName: 'Hugging Face - Dedicated',
    url: 'https://{endpointName}.{regionName}.{cloudName}.endpoints.huggingface.cloud/embeddings',
    batchSize: 32,
    parameters: [
      requiredText('endpointName', 'Endpoint name', {
        hint: 'abcd1234',
        help: 'The first part of the host of your endpoint.',
      }),
      requiredText('regionName', 'Region name', {
        hint: 'us-east-1',
        help: 'The cloud region of the endpoint.',
      }),
      requiredText('cloudName', 'Cloud name', {
        hint: 'aws',
        help: 'The cloud of the endpoint.',
      }),
    ],
    models: [model('endpoint-defined-model', range(2, 3072))],
    defaultModel: 'endpoint-defined-model',
  },
  nvidia: {
    ...hosted,
    displayName: 'Nvidia',
    url: 'https://us-west-2.api-dev.ai.datastax.com/nvidia/v1/embeddings/nv-embed-qa-v4',
    // The service at the provider's URL accepts only requests from databases of its own cloud.
    calls: null,
    authentication: noKey,
    batchSize: 8,
    models: [model('NV-Embed-QA', fixed(1024))],
  },
  jinaAI: {
    ...hosted,
    displayName: 'Jina AI',
    url: 'https://api.jina.ai/v1/embeddings',
    batchSize: 32,
    retryPolicy: { ...defaultRetryPolicy, firstPauseMs: 1_000, pauseMaxMs: 1_000 },
    models: [
      ...['en', 'de', 'es', 'code', 'zh'].map((language) =>
        model(`jina-embeddings-v2-base-${language}`, fixed(768)),
      ),
      model('jina-embeddings-v3', range(1, 1024, 1024), [
        {
          name: 'task',
          type: 'string',
          required: false,
          byDefault: 'text-matching',
          help: 'Purpose of the vectors; the model adapts to it.',
        },
        {
          name: 'late_chunking',
          type: 'boolean',
          required: false,
          byDefault: 'false',
          help: 'Whether the texts of a request are parts of one long text.',
        },
      ]),
    ],
  },
  voyageAI: {
    ...hosted,
    displayName: 'Voyage AI',
    url: 'https://api.voyageai.com/v1/embeddings',
    batchSize: 32,
    parameters: [
      flag('autoTruncate', 'Auto truncate', 'true', {
        help: 'Whether to truncate texts that are too long for the model, instead of rejecting them.',
      }),
    ],
    models: [
      model('voyage-large-2-instruct', fixed(1024)),
      model('voyage-law-2', fixed(1024)),
      model('voyage-2', fixed(1024)),
      model('voyage-finance-2', fixed(1024)),
      model('voyage-multilingual-2', fixed(1024)),
      model('voyage-code-2', fixed(1536)),
      model('voyage-large-2', fixed(1536)),
      ...['voyage-3-large', 'voyage-3.5', 'voyage-3.5-lite', 'voyage-code-3'].map((name) =>
        model(name, oneOf([256, 512, 1024, 2048], 1024)),
      ),
    ],
  },
  mistral: {
    ...hosted,
    displayName: 'Mistral AI',
    url: 'https://api.mistral.ai/v1/embeddings',
    batchSize: 32,
    models: [model('mistral-embed', fixed(1024))],
  },
  upstageAI: {
    ...hosted,
    displayName: 'Upstage',
    url: 'https://api.upstage.ai/v1/solar/embeddings',
    batchSize: 1,
    models: [model('solar-embedding-1-large', fixed(4096))],
  },
  vertexai: {
    ...hosted,
    displayName: 'Google Vertex AI',
    url:
      'https://us-central1-aiplatform.googleapis.com/v1/projects/{projectId}' +
      '/locations/us-central1/publishers/google/models',
    batchSize: 32,
    parameters: [
      requiredText('projectId', 'Project ID', {
        hint: 'my-project',
        help: 'The Google Cloud project to bill.',
      }),
    ],
    models: [
      {
        ...model('textembedding-gecko@003', fixed(768), autoTruncate()),
        support: { status: 'END_OF_LIFE', message: 'Use text-embedding-005.' },
      },
      model('text-embedding-005', fixed(768), autoTruncate()),
      model('text-multilingual-embedding-002', fixed(768), autoTruncate()),
    ],
  },
  cohere: {
    ...hosted,
    displayName: 'Cohere',
    url: 'https://api.cohere.com/v2/',
    batchSize: 96,
    models: [
      model('embed-english-v2.0', fixed(4096)),
      model('embed-english-v3.0', fixed(1024)),
      model('embed-english-light-v3.0', fixed(384)),
      model('embed-multilingual-v3.0', fixed(1024)),
      model('embed-multilingual-light-v3.0', fixed(384)),
      model('embed-v4.0', oneOf([256, 512, 1024, 1536], 1536)),
    ],
  },
  google: {
    ...hosted,
    displayName: 'Google Gemini',
    url: 'https://generativelanguage.googleapis.com/v1beta/models',
    authentication: keyByHeader('x-goog-api-key'),
    batchSize: 100,
    models: [model('gemini-embedding-001', range(128, 3072, 3072))],
  },
  openaiCompatible: {
    ...selfHosted,
    displayName: 'OpenAI-compatible server',
    parameters: [
      baseUrl('https://models.example.com/v1', 'The base URL; "/embeddings" is appended.'),
      flag('sendDimension', 'Send dimension', 'false', {
        help:
          'Whether to send the dimension of the collection to the model, if the model ' +
          'supports several.',
      }),
    ],
    models: [anyModel()],
  },
  ollama: {
    ...selfHosted,
    displayName: 'Ollama',
    url: 'http://localhost:11434',
    parameters: [
      baseUrl('https://ollama.example.com', 'The base URL; "/api/embed" is appended.'),
    ],
    models: [
      model('all-minilm', fixed(384)),
      model('mxbai-embed-large', fixed(1024)),
      model('nomic-embed-text', fixed(768)),
      anyModel(),
    ],
  },
  textEmbeddingsInference: {
    ...selfHosted,
    displayName: 'Text Embeddings Inference',
    parameters: [
      baseUrl('https://tei.example.com', 'The base URL; "/embed" is appended.'),
      flag('autoTruncate', 'Auto truncate', 'false', {
        help: 'Whether to truncate texts that are too long for the model, instead of rejecting them.',
      }),
    ],
    models: [model('endpoint-defined-model', range(1, 4096))],
    defaultModel: 'endpoint-defined-model',
  },
}

function model(
  name: string,
  dimension: ModelDimension,
  parameters: readonly ProviderParameter[] = [],
): EmbeddingModel {
  return { name, dimension, parameters, support: { status: 'SUPPORTED' } }
}

/** An entry that matches every model of a server; the client must know the model's dimension. */
function anyModel(): EmbeddingModel {
  return { ...model('any-model', range(1, 4096)), isAnyName: true }
}

function fixed(value: number): ModelDimension {
  return { kind: 'fixed', value }
}

function range(min: number, max: number, byDefault?: number): ModelDimension {
  return { kind: 'range', min, max, ...(byDefault !== undefined && { byDefault }) }
}

function oneOf(values: readonly number[], byDefault: number): ModelDimension {
  return { kind: 'options', values, byDefault }
}

type Wording = Pick<ProviderParameter, 'hint' | 'help'>

function text(name: string, displayName: string, wording: Wording): ProviderParameter {
  return { name, type: 'string', required: false, displayName, ...wording }
}

function requiredText(name: string, displayName: string, wording: Wording) {
  return { ...text(name, displayName, wording), required: true }
}

function flag(
  name: string,
  displayName: string,
  byDefault: string,
  wording: Wording,
): ProviderParameter {
  return { name, type: 'boolean', required: false, byDefault, displayName, ...wording }
}

function baseUrl(hint: string, help: string): ProviderParameter {
  return text(baseUrlName, 'Base URL', { hint, help })
}

function autoTruncate(): readonly ProviderParameter[] {
  const help =
    'Whether to truncate texts that are too long for the model, instead of rejecting them.'
  return [{ name: 'autoTruncate', type: 'boolean', required: false, help }]
}
