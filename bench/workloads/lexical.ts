import { ownCaller } from '../../src/caller/caller.ts'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Collection } from '../../src/engine/schema.ts'
import { everything } from '../../src/language/filters/filter.ts'
import { lexicalOperators } from '../../src/language/sorts/sort.ts'
import { storeFile } from '../../src/engine/embedded/store/layout.ts'
import { Fts5 } from '../baselines/fts5.ts'
import { Lucene } from '../baselines/lucene.ts'
import {
  copyFolder,
  createCollection,
  insertAll,
  prepareFolder,
  type Dataset,
} from '../dataset.ts'
import { queryCount, queryKinds, type QueryKind } from '../lexical/queries.ts'
import { Scoring } from '../lexical/scoring.ts'
import { Stela } from '../processes.ts'
import { decimal, short, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import { measureServed, servedCells, servedHead, startBareFastify } from '../served.ts'
import { Texts } from '../texts.ts'
import { ratePerSecond, repeating, takeTurns } from '../turns.ts'
import type { Study, StudySettings, Table } from './study.ts'

const keyspace = 'default_keyspace'
const textsPath = `/v1/${keyspace}/texts`
const plainPath = `/v1/${keyspace}/plain`
const limit = 20

export const lexical: Study = {
  name: 'lexical',
  says: 'search by terms in the engine and over HTTP, and the cost of inserts',
  size: 200_000,

  async run(settings) {
    const { folder } = settings
    const { dataset, figures } = await loadTexts(settings)
    const served = join(folder, 'served-texts')
    copyFolder(dataset.folder, served)
    const queries = makeQueries(settings)
    const inEngine = await measureEngine(served, queries, settings)
    const scoring = await measureScoring(dataset.folder, queries, settings)
    const overHttp = await measureOverHttp(served, queries, settings)
    return {
      tables: [inEngine, ...scoring.tables, overHttp],
      figures: [...figures, ...scoring.figures],
    }
  },
}

interface Queries {
  readonly kind: QueryKind
  /** The words of each query. */
  readonly queries: readonly (readonly string[])[]
}

function makeQueries({ seed, size }: StudySettings): Queries[] {
  const stored = new Texts(seed)
  const texts = Array.from({ length: Math.min(size, queryCount) }, () => stored.next())
  const picks = new Texts(seed + 1)
  return queryKinds.map((kind) => ({
    kind,
    queries: texts.map((text) => kind.pick(picks, text)),
  }))
}

/**
 * Number of slices of the texts. Each slice is loaded first with the term index and then without
 * it.
 */
const loadSlices = 10

async function loadTexts({ folder, keepDir, size, seed, progress }: StudySettings) {
  if (keepDir !== undefined) mkdirSync(keepDir, { recursive: true })
  const figures: Figure[] = []
  const name = `texts-${size}-seed-${seed}`
  const dataset: Dataset = await prepareFolder(keepDir ?? folder, name, async (port) => {
    const others = '"rerank":{"enabled":false}'
    await createCollection(port, 'texts', `{"lexical":{"enabled":true},${others}}`)
    await createCollection(
      port,
      'plain',
      `{"lexical":{"enabled":false},"indexing":{"deny":["text"]},${others}}`,
    )
    const searchable = inserter('$lexical', seed)
    const plain = inserter('text', seed)
    const elapsed = { searchable: 0, plain: 0 }
    for (let slice = 0; slice < loadSlices; slice++) {
      const count =
        Math.floor((size * (slice + 1)) / loadSlices) -
        Math.floor((size * slice) / loadSlices)
      progress(`loading texts: ${slice + 1} of ${loadSlices}`)
      const quiet = () => undefined
      const first = await insertAll(port, textsPath, count, quiet, searchable)
      const second = await insertAll(port, plainPath, count, quiet, plain)
      elapsed.searchable += first.elapsedMs
      elapsed.plain += second.elapsedMs
    }
    const rate = (ms: number) => (size / ms) * 1000
    figures.push(
      {
        what: 'inserting texts as $lexical',
        value: rate(elapsed.searchable),
        unit: 'documents/s',
      },
      {
        what: 'inserting the same texts in an unindexed field',
        value: rate(elapsed.plain),
        unit: 'documents/s',
      },
      {
        what: 'rate of the first relative to the second',
        value: elapsed.plain / elapsed.searchable,
        unit: 'times',
      },
    )
  })
  return { dataset, figures }
}

function inserter(field: string, seed: number): (count: number) => string {
  const texts = new Texts(seed)
  let number = 0
  return (count) => {
    const documents = Array.from({ length: count }, () => {
      const id = String(number++).padStart(9, '0')
      return `{"_id":"t-${id}","${field}":"${texts.next()}"}`
    })
    return `{"insertMany":{"documents":[${documents.join(',')}]}}`
  }
}

async function measureEngine(
  served: string,
  queries: readonly Queries[],
  { folder, size, seed, seconds, progress }: StudySettings,
): Promise<Table> {
  progress('making the index of SQLite')
  const fts5 = new Fts5(join(folder, 'fts5.db'), textsOf(size, seed))
  const engine = await openEmbeddedEngine({
    dataDir: served,
    durable: true,
    log: (_, message) => progress(message),
  })
  try {
    const rows: string[][] = []
    for (const { kind, queries: words } of queries) {
      progress(`in the engine: ${kind.says}`)
      rows.push(await measureKind(engine, fts5, kind, words, size, seconds))
    }
    return {
      title: `In the engine, the ${limit} best, one at a time`,
      head: [
        'terms',
        'texts that have them',
        'queries/s',
        'p50 ms',
        'p99 ms',
        'SQLite FTS5 queries/s',
        'ratio',
      ],
      rows,
    }
  } finally {
    fts5.close()
    await engine.close()
  }
}

/** Measures only the scoring, and compares it with Lucene if Lucene is available. */
async function measureScoring(
  dataDir: string,
  queries: readonly Queries[],
  { folder, size, seed, progress }: StudySettings,
): Promise<{ readonly tables: readonly Table[]; readonly figures: readonly Figure[] }> {
  progress('making the index of Lucene')
  const lucene = await Lucene.start(folder, textsOf(size, seed))
  if (lucene === undefined) progress('Java or Maven is missing, so Lucene is left out')
  const file = join(dataDir, keyspace, 'texts', storeFile)
  const scoring = new Scoring(file, lucene)
  try {
    const beside = lucene === undefined ? [] : ['Lucene ms', 'ratio']
    const tables: Table[] = []
    for (const operator of lexicalOperators) {
      const rows: string[][] = []
      for (const { kind, queries: words } of queries) {
        progress(`scoring by ${operator} term: ${kind.says}`)
        rows.push([kind.says, ...(await scoring.measure(words, operator, limit))])
      }
      const having = operator === 'all' ? 'all terms' : 'any term'
      tables.push({
        title: `Scoring alone, the ${limit} best with ${having}, minimum of five`,
        head: ['terms', 'ms', ...beside],
        rows,
      })
    }
    const figures = [{ what: 'the index of terms', value: indexSize(file) / size }]
    if (lucene !== undefined)
      figures.push({ what: 'the index of Lucene', value: lucene.size / size })
    return {
      tables,
      figures: figures.map((figure) => ({ ...figure, unit: 'bytes a text' })),
    }
  } finally {
    scoring.close()
    lucene?.stop()
  }
}

/** Bytes of the term index's pages in the database file. */
function indexSize(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = ['term', 'textsegment', 'posting', 'waiting']
    const { size } = database
      .prepare(
        'SELECT sum(pgsize) AS size FROM dbstat WHERE name IN ' +
          '(SELECT name FROM sqlite_schema WHERE tbl_name IN ' +
          '(SELECT value FROM json_each(?)))',
      )
      .get(JSON.stringify(tables))!
    return Number(size)
  } finally {
    database.close()
  }
}

function* textsOf(size: number, seed: number): Generator<string> {
  const texts = new Texts(seed)
  for (let i = 0; i < size; i++) yield texts.next()
}

async function measureKind(
  engine: Engine,
  fts5: Fts5,
  { says }: QueryKind,
  queries: readonly (readonly string[])[],
  size: number,
  seconds: number,
): Promise<string[]> {
  const target = (await engine.findTarget(keyspace, 'texts')) as Collection
  const tester = ownCaller()
  const found = queries.reduce((sum, words) => sum + fts5.count(words), 0)
  const [ours, theirs] = await takeTurns(
    [
      repeating('Stela', queries.length, (query) =>
        engine.search(
          target,
          {
            by: {
              kind: 'lexical',
              path: '$lexical',
              terms: queries[query]!,
              text: queries[query]!.join(' '),
              having: 'all',
            },
            filter: everything,
            limit,
            withSearchFields: true,
          },
          tester,
        ),
      ),
      repeating('SQLite FTS5', queries.length, (query) =>
        fts5.search(queries[query]!, limit),
      ),
    ],
    seconds,
  )
  const rate = ratePerSecond(ours!)
  return [
    says,
    `${((found / queries.length / size) * 100).toPrecision(2)} %`,
    whole(rate),
    short(ours!.latencies.quantile(0.5)),
    short(ours!.latencies.quantile(0.99)),
    whole(ratePerSecond(theirs!)),
    decimal(rate / ratePerSecond(theirs!)),
  ]
}

async function measureOverHttp(
  served: string,
  queries: readonly Queries[],
  { connections: counts, seconds, profileDir, progress }: StudySettings,
): Promise<Table> {
  const server = await Stela.start(served, { profileDir })
  const fastify = startBareFastify()
  try {
    const rows: string[][] = []
    for (const connections of counts)
      for (const { kind, queries: words } of queries) {
        progress(`over HTTP, ${kind.says}, connections: ${connections}`)
        const answered = await measureServed(server, fastify, {
          path: textsPath,
          bodies: words.map(findBody),
          connections,
          seconds,
        })
        rows.push([kind.says, whole(connections), ...servedCells(answered)])
      }
    return {
      title: `Over HTTP, the ${limit} best`,
      head: ['terms', 'connections', ...servedHead],
      rows,
    }
  } finally {
    await Promise.all([server.stop(), fastify.stop()])
  }
}

/**
 * The body of a search. The reply contains the texts, because FTS5 has to read the texts as well.
 */
function findBody(words: readonly string[]): string {
  return (
    `{"find":{"sort":{"$lexical":"${words.join(' ')}"},"projection":{"$lexical":1},` +
    `"options":{"limit":${limit}}}}`
  )
}
