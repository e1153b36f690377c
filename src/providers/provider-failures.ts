/** Converts replies and failures of providers to API results and errors. */
import { apiError, type ApiError } from '../errors/api-error.ts'
import { fixedLimits } from '../limits.ts'
import type { ProviderOutcome } from './provider-call.ts'
import { at } from './reply-shape.ts'

export interface ProviderRequest {
  readonly kind: 'embedding' | 'reranking'
  readonly provider: string
  readonly model: string
  /** JSON pointers to the message in an error of the provider. */
  readonly errorAt: readonly string[]
  /** Secrets that must not appear in messages. */
  readonly keys: readonly string[]
}

/** The reply's JSON. Throws an ApiError for all other outcomes. */
export function jsonOf(outcome: ProviderOutcome, asked: ProviderRequest): unknown {
  const { provider } = asked
  const codes = codesOf[asked.kind]
  switch (outcome.kind) {
    case 'reply':
      return readReply(outcome, asked)
    case 'timeout': {
      const text = `no reply within ${outcome.timeoutMs} ms`
      throw apiError(codes.timeout, { provider, status: 'none', text })
    }
    case 'too large':
      throw unexpected(asked, `a reply of at most ${outcome.sizeMax} bytes`, 'a larger one')
    case 'bad host':
      throw asked.kind === 'embedding'
        ? apiError('EMBEDDING_PROVIDER_BAD_HOST_NAME', {
            provider,
            problem: outcome.problem,
          })
        : apiError(codes.server, { provider, status: 'none', text: outcome.problem })
    case 'no reply':
    case 'not sent': {
      const text = hideKeys(outcome.problem, asked.keys)
      const code = outcome.kind === 'no reply' ? codes.server : codes.client
      throw apiError(code, { provider, status: 'none', text })
    }
  }
}

export function unexpected(
  { kind, provider }: ProviderRequest,
  expected: string,
  actual: string,
): ApiError {
  return apiError(codesOf[kind].unexpected, { provider, expected, actual })
}

const codesOf = {
  embedding: {
    timeout: 'EMBEDDING_PROVIDER_TIMEOUT',
    rateLimited: 'EMBEDDING_PROVIDER_RATE_LIMITED',
    client: 'EMBEDDING_PROVIDER_CLIENT_ERROR',
    server: 'EMBEDDING_PROVIDER_SERVER_ERROR',
    unexpected: 'EMBEDDING_PROVIDER_UNEXPECTED_RESPONSE',
  },
  reranking: {
    timeout: 'RERANKING_PROVIDER_TIMEOUT',
    rateLimited: 'RERANKING_PROVIDER_RATE_LIMITED',
    client: 'RERANKING_PROVIDER_CLIENT_ERROR',
    server: 'RERANKING_PROVIDER_SERVER_ERROR',
    unexpected: 'RERANKING_PROVIDER_UNEXPECTED_RESPONSE',
  },
} as const

type Reply = Extract<ProviderOutcome, { readonly kind: 'reply' }>

function readReply(reply: Reply, asked: ProviderRequest): unknown {
  const { status, contentType, text } = reply
  if (status >= 400) throw refusal(reply, asked)
  if (status < 200 || status > 299)
    throw unexpected(
      asked,
      'a reply with HTTP status 200',
      `HTTP status ${status}; redirects are not followed`,
    )
  if (!/^\s*(?:application|text)\/json\s*(?:;|$)/i.test(contentType))
    throw unexpected(asked, 'JSON', `content of type "${contentType}"`)
  if (text.trim() === '') throw unexpected(asked, 'JSON', 'an empty reply')
  try {
    return JSON.parse(text)
  } catch {
    const problem = `it starts with ${JSON.stringify(text.slice(0, 40))}`
    if (asked.kind === 'reranking') throw unexpected(asked, 'JSON', problem)
    const { provider, model } = asked
    throw apiError('EMBEDDING_RESPONSE_DECODING_ERROR', { provider, model, problem })
  }
}

function refusal(reply: Reply, asked: ProviderRequest): ApiError {
  const { status } = reply
  const { provider } = asked
  const codes = codesOf[asked.kind]
  const text = ownWords(reply, asked)
  if (status === 408 || status === 504)
    return apiError(codes.timeout, { provider, status, text })
  if (status === 429) return apiError(codes.rateLimited, { provider, status, text })
  return apiError(status < 500 ? codes.client : codes.server, { provider, status, text })
}

const wordsLengthMax = fixedLimits.providerWordsLengthMax

function ownWords({ text }: Reply, { errorAt, keys }: ProviderRequest): string {
  const words = hideKeys(wordsIn(text, errorAt), keys).replace(/\s+/g, ' ').trim()
  if (words === '') return 'nothing'
  return words.length > wordsLengthMax ? `${words.slice(0, wordsLengthMax)}…` : words
}

function wordsIn(text: string, errorAt: readonly string[]): string {
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    return text
  }
  for (const pointer of errorAt) {
    const words = at(reply, pointer)
    if (typeof words === 'string') return words
    if (words !== undefined && words !== null) return JSON.stringify(words)
  }
  return text
}

function hideKeys(text: string, keys: readonly string[]): string {
  return keys.reduce(
    (hidden, key) => (key === '' ? hidden : hidden.replaceAll(key, '***')),
    text,
  )
}
