import { mkdirSync } from 'node:fs'
import type { RerankerAnswer, RerankerQuestion } from '../baselines/reranker.ts'
import { rankByLucene } from '../baselines/lucene-ranking.ts'
import { prepareFolder } from '../dataset.ts'
import { Baseline, Stela } from '../processes.ts'
import { measureQuality, recallDepth, type Quality } from '../quality/metrics.ts'
import {
  evaluate,
  loadSet,
  qualityOptions,
  wayNames,
  ways,
  type WayName,
} from '../quality/searches.ts'
import {
  downloadCommands,
  publicSets,
  readOwnSet,
  readSet,
  sampleOf,
  setsVariable,
  type JudgedSet,
  type SetSource,
} from '../quality/sets.ts'
import type { Figure } from '../run.ts'
import type { Study, StudySettings, Table } from './study.ts'

const own = 'own'

export const quality: Study = {
  name: 'quality',
  says: 'what searches find, on collections with judged documents',
  size: Infinity,
  parts: [own, ...publicSets.map(({ name }) => name)],

  async run(settings) {
    const reranker = new Baseline<RerankerQuestion, RerankerAnswer>(
      new URL('../baselines/reranker.ts', import.meta.url),
    )
    try {
      const { port } = await reranker.ask({ ask: 'port' })
      const tables: Table[] = []
      const measured: Measured[] = []
      for (const named of setsOf(settings)) {
        const found = await measureSet(named, port, settings)
        tables.push(tableOf(named, found))
        measured.push(found)
      }
      return { tables, figures: figuresOf(measured) }
    } finally {
      await reranker.stop()
    }
  },
}

interface NamedSet {
  readonly name: string
  readonly title: string
  readonly set: JudgedSet
}

/** The quality of each way to search a set, and of Lucene if it is available. */
interface Measured {
  readonly title: string
  readonly lucene: Quality | undefined
  readonly found: Readonly<Record<WayName, Quality>>
}

/** The sets to measure. Prints how to get missing ones. */
function* setsOf({ parts, size, progress }: StudySettings): Iterable<NamedSet> {
  const isAsked = (name: string) => parts === undefined || parts.includes(name)
  if (isAsked(own))
    yield { name: own, title: 'The own set', set: sampleOf(readOwnSet(), size) }
  for (const source of publicSets.filter(({ name }) => isAsked(name))) {
    const set = findSet(source, progress)
    if (set !== undefined)
      yield { name: source.name, title: source.title, set: sampleOf(set, size) }
  }
}

function findSet(
  source: SetSource,
  progress: (line: string) => void,
): JudgedSet | undefined {
  const folder = process.env[setsVariable]
  const set = folder === undefined ? undefined : readSet(folder, source)
  if (set === undefined)
    progress(
      [
        `${source.title} is left out. To measure it, set ${setsVariable} to a folder, and run`,
        ...downloadCommands(`$${setsVariable}`, source).map((line) => `  ${line}`),
      ].join('\n'),
    )
  return set
}

async function measureSet(
  { name, title, set }: NamedSet,
  rerankerPort: number,
  { folder, keepDir, progress }: StudySettings,
): Promise<Measured> {
  if (keepDir !== undefined) mkdirSync(keepDir, { recursive: true })
  const options = qualityOptions(rerankerPort)
  const { documents, queries } = set
  const loaded = await prepareFolder(
    keepDir ?? folder,
    `quality-${name}-${documents.length}`,
    (port) => loadSet(port, set, progress),
    options,
  )
  const ranked = await rankByLucene(folder, set, recallDepth)
  const judgements = queries.map((query) => query.judgements)
  const lucene = ranked && measureQuality(ranked, judgements)
  const found: Partial<Record<WayName, Quality>> = {}
  const server = await Stela.start(loaded.folder, options)
  try {
    for (const way of wayNames) {
      progress(`${name}: ${ways[way].says}`)
      found[way] = await evaluate(server.port, set, ways[way])
    }
  } finally {
    await server.stop()
  }
  return { title, lucene, found: found as Measured['found'] }
}

function tableOf({ title, set }: NamedSet, { lucene, found }: Measured): Table {
  const { documents, queries } = set
  const rows = wayNames.map((name) => {
    const { says, limit } = ways[name]
    return [says, ...cellsOf(found[name], limit)]
  })
  if (lucene !== undefined)
    rows.unshift(['Lucene 9.12, BM25, `EnglishAnalyzer`', ...cellsOf(lucene, recallDepth)])
  return {
    title: `${title}: ${documents.length} documents, ${queries.length} queries`,
    head: ['search', 'nDCG@10', `recall@${recallDepth}`, 'no result'],
    rows,
  }
}

/** Ratios of nDCG@10, with their targets. */
function figuresOf(measured: readonly Measured[]): Figure[] {
  const ratio = (what: string, value: number, min: number): Figure => ({
    what,
    value,
    unit: 'times',
    min,
  })
  const figures = measured.flatMap(({ title, lucene, found }) => {
    const { english, vector, hybrid } = found
    const better = Math.max(english.ndcg, vector.ndcg)
    return [
      ...(lucene
        ? [ratio(`${title}: \`english\` over Lucene`, english.ndcg / lucene.ndcg, 0.97)]
        : []),
      ratio(`${title}: hybrid over the better search`, hybrid.ndcg / better, 1),
    ]
  })
  const gains = measured.map(({ found }) => found.reranked.ndcg / found.hybrid.ndcg)
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length
  return [...figures, ratio('reranked over hybrid, mean of the sets', mean, 1.05)]
}

function cellsOf({ ndcg, recall, empty }: Quality, limit: number): string[] {
  return [
    ndcg.toFixed(3),
    limit < recallDepth ? '-' : recall.toFixed(3),
    `${(empty * 100).toFixed(1)} %`,
  ]
}
