/**
 * Test collections: documents, queries, and judgements of which documents are relevant.
 *
 * The small set of this folder belongs to the project. The others are public. They are not part of
 * the repository, because their licences do not allow it; a developer downloads them once into a
 * folder. Each file is identified by its checksum.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as formats from './formats.ts'
import type { Judgements } from './metrics.ts'

export interface JudgedText {
  readonly id: string
  readonly text: string
}

export interface JudgedSet {
  readonly documents: readonly JudgedText[]
  /** Queries with at least one relevant document. */
  readonly queries: readonly JudgedQuery[]
}

export interface JudgedQuery extends JudgedText {
  readonly judgements: Judgements
}

export interface SetSource {
  /** Name of the set on the command line, and of its folder. */
  readonly name: string
  readonly title: string
  readonly files: readonly SetFile[]
  /** Reads the set. `read` returns the content of one of its files. */
  parse(read: (name: string) => Buffer): JudgedSet
}

interface SetFile {
  /** Name in the folder of the set. */
  readonly name: string
  readonly sha256: string
  /** Repository, commit and path on GitHub. */
  readonly from: readonly [repository: string, commit: string, path: string]
  /** Name of the member to extract, if the downloaded file is a ZIP archive. */
  readonly member?: string
}

/** Variable with the folder of the public sets. */
export const setsVariable = 'STELA_BENCH_SETS'

const anseriniTools = (path: string) =>
  ['castorini/anserini-tools', '5b819c1a45c8a0a3ec9426f476694f44a29dfaf3', path] as const
const terrier = (path: string) =>
  ['terrier-org/terrier-core', '3ceec7d89cb943a56e4bf298b00897d4221d0002', path] as const
const cranfieldCopy = (path: string) =>
  [
    'Chetan-Prasad/IR-Lucene_Cran',
    'ff1bd825c1781e908fdcb8a20609ef779abb3d2a',
    path,
  ] as const
const rankLlm = (searchedBy: string) =>
  [
    'castorini/rank_llm',
    '916102c7de2f7348a64427b89300946657997098',
    `retrieve_results/${searchedBy}/retrieve_results_dl19.json`,
  ] as const

/** Names of the searches whose results form the sample of MS MARCO, with their checksums. */
const sampledSearches = {
  BM25: '4f3e4aba8bb68c1b38405da010f44537f31d3b5fff7088ef97c03caed1076674',
  BM25_RM3: 'b5ab68b20a83b5f718bfa0d6f788b2f839100123e85c0b95768331d01c676631',
  D_BERT_KD_TASB: '6af564b78da890ded64787ca4c6d32de232bfe5b4030e1ca868a8fc75d79baec',
  OPEN_AI_ADA2: '9b6e71e0c3731acd4e49aeb9fd79852d0f5ac2641cd67f1984d40e47325eb51d',
  SPLADE_P_P_ENSEMBLE_DISTIL:
    '2b4a11fe6877a4cb0138426add49b3b70bc2d46390ce5a9b0120cca26cec4099',
}

export const publicSets: readonly SetSource[] = [
  {
    name: 'scifact',
    title: 'SciFact',
    files: [
      {
        name: 'corpus_train.csv',
        sha256: 'f4a79c38ef6abf2ebb23612d155e77b4add75cc94f218e9a5d70a454fe3190b4',
        from: [
          'sumithra-p-v/claimverifier',
          'b42f1c3444b28884ddcfadffafbfe223646c6c37',
          'data/scifact.zip',
        ],
        member: 'corpus_train.csv',
      },
      {
        name: 'topics.tsv.gz',
        sha256: 'a624d39fa2a41da44b0148ac2b1c2cb9856ece2c4afbb6ac9360e8e524d66b4f',
        from: anseriniTools('topics/topics.beir-v1.0.0-scifact.test.tsv.gz'),
      },
      {
        name: 'qrels.txt',
        sha256: '8b7315286f8dc823956025a1fc9c9ff0bfe142d7b409458ccd758cfa0713ccba',
        from: anseriniTools('qrels/qrels.beir-v1.0.0-scifact.test.txt'),
      },
    ],
    parse(read) {
      const rows = formats.parseCsv(read('corpus_train.csv').toString())
      const documents = rows.map(([id, title, sentences]) => ({
        id: id!,
        text: [title!, ...formats.parsePrintedStrings(sentences!)].join(' '),
      }))
      const queries = formats.parseTopics(gunzipSync(read('topics.tsv.gz')).toString())
      const judgements = formats.parseTrecJudgements(read('qrels.txt').toString())
      return combine(documents, queries, judgements)
    },
  },
  {
    name: 'npl',
    title: 'NPL (Vaswani)',
    files: [
      {
        name: 'doc-text.trec',
        sha256: '117ae7491647cb9725621bad52969a78307de19b1757852a0a2383659a856d36',
        from: terrier('share/vaswani_npl/corpus/doc-text.trec'),
      },
      {
        name: 'query-text.trec',
        sha256: 'fef998db14818f74a22b2fb2be06425d5fb0dbd83ed9841fa0440e0a5477da7b',
        from: terrier('share/vaswani_npl/query-text.trec'),
      },
      {
        name: 'qrels',
        sha256: '1b3ed6a43752c7a7becb0dbd1614d662791bb7825b60182fd36be24d480ea447',
        from: terrier('share/vaswani_npl/qrels'),
      },
    ],
    parse(read) {
      const documents = formats.parseTrecDocuments(read('doc-text.trec').toString())
      const queries = formats.parseTrecTopics(read('query-text.trec').toString())
      const judgements = formats.parseTrecJudgements(read('qrels').toString())
      return combine(documents, queries, judgements)
    },
  },
  {
    name: 'cranfield',
    title: 'Cranfield',
    files: [
      {
        name: 'cran.all.1400',
        sha256: '73d33d7e445b884bc32332034e7bc7d07ad5089d9030ead9f1de3493da21da1d',
        from: cranfieldCopy('cran.all.1400'),
      },
      {
        name: 'cran.qry',
        sha256: '99578ceb88941ef89c14faf7c63c23776a376d8fba319b990f01d0c601d8b03f',
        from: cranfieldCopy('cran.qry'),
      },
      {
        name: 'cranqrel',
        sha256: '92e54b58dac0b980152178f350d892fae66c8a239b8a11715b835fb8d2f6bc0e',
        from: cranfieldCopy('cranqrel'),
      },
    ],
    parse(read) {
      const documents = formats
        .parseSmart(read('cran.all.1400').toString())
        // The text of most abstracts starts with the title, which is also in a field of its own.
        .map((fields) => ({ id: fields.get('I')!, text: fields.get('W') ?? '' }))
        .filter(({ text }) => text !== '')
      // Judgements name a query by its position in the file, not by the number in the file.
      const queries = formats
        .parseSmart(read('cran.qry').toString())
        .map((fields, i) => ({ id: String(i + 1), text: fields.get('W')! }))
      const judgements = formats
        .linesOf(read('cranqrel').toString())
        .map((line) => line.trim().split(/\s+/))
        // -1 stands for no interest, and 1 to 4 for four kinds of relevant documents, which have
        // been published in both orders. So all four count the same.
        .map(([query, document, kind]) => ({
          query: query!,
          document: document!,
          grade: Number(kind) > 0 ? 1 : 0,
        }))
      return combine(documents, queries, judgements)
    },
  },
  {
    name: 'dl19',
    title: 'MS MARCO, DL19 sample',
    files: [
      ...Object.entries(sampledSearches).map(([name, sha256]) => ({
        name: `${name}.json`,
        sha256,
        from: rankLlm(name),
      })),
      {
        name: 'qrels.txt',
        sha256: '8a1f10d550732e4cd91d7fc49846a3784de4040972f583e69285a88f3c5fee92',
        from: anseriniTools('qrels/qrels.dl19-passage.txt'),
      },
    ],
    parse(read) {
      const documents = new Map<string, JudgedText>()
      const queries = new Map<string, JudgedText>()
      for (const name of Object.keys(sampledSearches)) {
        const searched = JSON.parse(read(`${name}.json`).toString()) as Searched[]
        for (const { query, hits } of searched)
          for (const { qid, docid, content } of hits) {
            queries.set(String(qid), { id: String(qid), text: query })
            documents.set(docid, { id: docid, text: content })
          }
      }
      const judgements = formats.parseTrecJudgements(read('qrels.txt').toString())
      return combine([...documents.values()], [...queries.values()], judgements)
    },
  },
]

interface Searched {
  readonly query: string
  readonly hits: readonly {
    readonly qid: number
    readonly docid: string
    readonly content: string
  }[]
}

/** The set of this folder, whose texts belong to the project. */
export function readOwnSet(): JudgedSet {
  const file = readFileSync(join(import.meta.dirname, 'own-set.json'), 'utf8')
  const { documents, queries } = JSON.parse(file) as OwnSet
  return {
    documents: Object.entries(documents).map(([id, text]) => ({ id, text })),
    queries: queries.map(({ text, relevant }, i) => ({
      id: String(i),
      text,
      judgements: new Map(Object.entries(relevant)),
    })),
  }
}

interface OwnSet {
  readonly documents: Readonly<Record<string, string>>
  readonly queries: readonly {
    readonly text: string
    readonly relevant: Readonly<Record<string, number>>
  }[]
}

/** Reads a public set; undefined if its folder does not exist. Throws if a file differs. */
export function readSet(folder: string, source: SetSource): JudgedSet | undefined {
  const place = join(folder, source.name)
  if (!existsSync(place)) return undefined
  return source.parse((name) => {
    const { sha256 } = source.files.find((file) => file.name === name)!
    const path = join(place, name)
    const content = readFileSync(path)
    const found = createHash('sha256').update(content).digest('hex')
    if (found !== sha256)
      throw new Error(`${path} has the SHA-256 ${found}, but must have ${sha256}`)
    return content
  })
}

/** The shell commands that download a set into a folder. */
export function downloadCommands(folder: string, { name, files }: SetSource): string[] {
  const place = join(folder, name)
  const commands = files.map(({ name, from: [repository, commit, path], member }) => {
    const url = `https://raw.githubusercontent.com/${repository}/${commit}/${path}`
    const file = join(place, name)
    const fetch = (to: string) => `curl -fsSL -o ${to} ${url}`
    if (member === undefined) return fetch(file)
    const archive = `${file}.zip`
    return `${fetch(archive)} && unzip -p ${archive} ${member} > ${file}`
  })
  return [`mkdir -p ${place}`, ...commands]
}

/**
 * A sample of about `sizeMax` documents. Up to half of them are relevant ones, equally many for each
 * query, and the others are evenly spread over the set. Judgements of other documents are left out,
 * and with them the queries without relevant documents.
 */
export function sampleOf({ documents, queries }: JudgedSet, sizeMax: number): JudgedSet {
  const each = Math.max(1, Math.floor(sizeMax / 2 / queries.length))
  const chosen = new Set(queries.flatMap(({ judgements }) => bestOf(judgements, each)))
  const others = documents.filter(({ id }) => !chosen.has(id))
  const step = Math.ceil(others.length / Math.max(1, sizeMax - chosen.size)) || 1
  for (const [i, { id }] of others.entries()) if (i % step === 0) chosen.add(id)
  const judged = queries.map(({ id, text, judgements }) => ({
    id,
    text,
    judgements: new Map([...judgements].filter(([document]) => chosen.has(document))),
  }))
  return {
    documents: documents.filter(({ id }) => chosen.has(id)),
    queries: judged.filter(hasRelevant),
  }
}

/** Ids of the most relevant documents. */
function bestOf(judgements: Judgements, count: number): string[] {
  return [...judgements]
    .filter(([, grade]) => grade > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([id]) => id)
}

function hasRelevant({ judgements }: JudgedQuery): boolean {
  return [...judgements.values()].some((grade) => grade > 0)
}

/** Combines the parts of a set. Judgements of unknown documents are left out. */
function combine(
  documents: readonly JudgedText[],
  queries: readonly JudgedText[],
  judgements: readonly formats.Judgement[],
): JudgedSet {
  const known = new Set(documents.map(({ id }) => id))
  const byQuery = Map.groupBy(
    judgements.filter(({ document }) => known.has(document)),
    ({ query }) => query,
  )
  const judged = queries.map(({ id, text }) => {
    const grades = (byQuery.get(id) ?? []).map((one) => [one.document, one.grade] as const)
    return { id, text, judgements: new Map(grades) }
  })
  return { documents, queries: judged.filter(hasRelevant) }
}
