/** Loads a test collection into a server, and runs its queries by the commands of clients. */
import { Client, requestBytes } from '../client.ts'
import { createCollection } from '../dataset.ts'
import { token, type StelaOptions } from '../processes.ts'
import { measureQuality, recallDepth, type Quality } from './metrics.ts'
import type { JudgedQuery, JudgedSet } from './sets.ts'

/**
 * Collections with the documents of a set, by the analyzer of their texts. `standard` is the
 * default. Both have the same vectors.
 */
type CollectionName = 'standard' | 'english'

/** Name of the service that assigns scores without reading the texts. */
const instantService = {
  provider: 'nvidia',
  modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2',
}

/** Settings of the server. `rerankerPort` is the port of the instant reranking service. */
export function qualityOptions(rerankerPort: number): StelaOptions {
  return {
    settings: {
      STELA_RERANKING_URLS: `nvidia=http://127.0.0.1:${rerankerPort}/`,
      // A few abstracts have more terms than a $lexical may have by default.
      STELA_MAX_LEXICAL_SIZE: '65536',
    },
  }
}

/** Inserts the documents into both collections. Each text is embedded once. */
export async function loadSet(
  port: number,
  { documents }: JudgedSet,
  progress: (line: string) => void,
): Promise<void> {
  const service = '"service":{"provider":"local","modelName":"all-MiniLM-L6-v2"}'
  const vector = `"vector":{${service}}`
  const rerank =
    '"rerank":{"enabled":true,"service":{"provider":"local",' +
    '"modelName":"all-MiniLM-L6-v2-late-interaction"}}'
  await createCollection(port, 'standard', `{${vector},${rerank}}`)
  const english = '"lexical":{"enabled":true,"analyzer":"english"}'
  await createCollection(port, 'english', `{${vector},${rerank},${english}}`)
  const client = await Client.connect(port, 1)
  try {
    for (let at = 0; at < documents.length; at += batchSize) {
      const slice = documents.slice(at, at + batchSize)
      const texts = slice.map(({ id, text }) => ({ _id: id, $hybrid: text }))
      await ask(client, 'standard', { insertMany: { documents: texts } })
      const filter = { _id: { $in: slice.map(({ id }) => id) } }
      const find = { filter, projection: { $vector: 1 } }
      const found = await ask(client, 'standard', { find })
      const vectors = new Map(found.data.documents.map((one) => [one._id, one.$vector]))
      const copies = slice.map(({ id, text }) => ({
        _id: id,
        $lexical: text,
        $vector: vectors.get(id),
      }))
      await ask(client, 'english', { insertMany: { documents: copies } })
      if (at % 1000 === 0) progress(`loading: ${at} of ${documents.length} documents`)
    }
  } finally {
    client.close()
  }
}

/** Documents per insert, and at most a page. Embedding them takes less than the time limit. */
const batchSize = 20

/** A way to search. */
export interface Way {
  readonly says: string
  /** Maximum number of results. */
  readonly limit: number
  /** Ids of the results of a query, best first. */
  search(client: Client, query: JudgedQuery): Promise<readonly string[]>
}

const byLexical = (name: CollectionName): Way => ({
  says: `\`find\` by \`$lexical\`, analyzer \`${name}\``,
  limit: recallDepth,
  search: (client, { text }) => find(client, name, { $lexical: text }),
})

export const ways = {
  standard: byLexical('standard'),
  english: byLexical('english'),
  vector: {
    says: '`find` by `$vectorize`',
    limit: recallDepth,
    search: (client, { text }) => find(client, 'english', { $vectorize: text }),
  },
  hybrid: {
    says: '`findAndRerank`, in the order of `$rrf`',
    limit: recallDepth,
    async search(client, { text }) {
      const options = {
        limit: 2 * recallDepth,
        hybridLimits: recallDepth,
        rerank: instantService,
        includeScores: true,
      }
      const reply = await findAndRerank(client, text, options)
      const rrf = reply.status!.documentResponses.map(({ scores }) => scores.$rrf)
      return reply.data.documents
        .map(({ _id }, i) => ({ id: _id, rrf: rrf[i]! }))
        .sort((a, b) => b.rrf - a.rrf)
        .map(({ id }) => id)
        .slice(0, recallDepth)
    },
  },
  reranked: {
    says: '`findAndRerank`, built-in reranker, `limit` 10',
    limit: 10,
    async search(client, { text }) {
      return idsOf(await findAndRerank(client, text, { limit: 10 }))
    },
  },
} satisfies Record<string, Way>

export type WayName = keyof typeof ways

/** The ways in the order in which they run. */
export const wayNames = Object.keys(ways) as readonly WayName[]

/** Runs all queries in one way. */
export async function evaluate(
  port: number,
  { queries }: JudgedSet,
  { search }: Way,
): Promise<Quality> {
  const client = await Client.connect(port, 1)
  try {
    const ranked: (readonly string[])[] = []
    for (const query of queries) ranked.push(await search(client, query))
    return measureQuality(
      ranked,
      queries.map(({ judgements }) => judgements),
    )
  } finally {
    client.close()
  }
}

/** Ids of the results of a find, on all its pages. */
async function find(client: Client, name: CollectionName, sort: object): Promise<string[]> {
  const ids: string[] = []
  let pageState: string | null | undefined
  do {
    const options = { limit: recallDepth, ...(pageState && { pageState }) }
    const found = await ask(client, name, {
      find: { sort, projection: { _id: 1 }, options },
    })
    ids.push(...idsOf(found))
    pageState = found.data.nextPageState
  } while (pageState)
  return ids
}

function findAndRerank(client: Client, text: string, options: object): Promise<Reply> {
  const sort = { $hybrid: text }
  const projection = { _id: 1 }
  return ask(client, 'english', { findAndRerank: { sort, projection, options } })
}

interface Reply {
  readonly data: {
    readonly documents: readonly FoundDocument[]
    readonly nextPageState: string | null
  }
  readonly status?: {
    readonly documentResponses: readonly { readonly scores: { readonly $rrf: number } }[]
  }
}

interface FoundDocument {
  readonly _id: string
  readonly $vector?: unknown
}

function idsOf({ data }: Reply): string[] {
  return data.documents.map(({ _id }) => _id)
}

async function ask(client: Client, name: CollectionName, command: object): Promise<Reply> {
  const body = JSON.stringify(command)
  const reply = await client.ask(requestBytes(pathOf(name), token, body))
  const parsed = JSON.parse(reply) as Reply & { readonly errors?: unknown }
  if (parsed.errors !== undefined) throw new Error(reply)
  return parsed
}

function pathOf(name: CollectionName): string {
  return `/v1/default_keyspace/${name}`
}
