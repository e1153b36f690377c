/**
 * Compares two methods of filtered search in a store: the search of a reader thread, and a scan of
 * the matches.
 */
import type { Budget } from '../../src/engine/embedded/store/budget.ts'
import { listMatches } from '../../src/engine/embedded/read/execute.ts'
import { StoreReader } from '../../src/engine/embedded/read/store-reader.ts'
import { KnownMatches } from '../../src/engine/embedded/read/vector-search.ts'
import { loadSnapshot, snapshotFolder } from '../../src/engine/embedded/vectors/snapshot.ts'
import { everything, type Filter } from '../../src/language/filters/filter.ts'
import { documentView } from '../../src/engine/record-view.ts'
import { parsePath, type Path } from '../../src/language/values/path.ts'
import { capacityFor } from '../../src/search/vector/segment.ts'
import { VectorView } from '../../src/search/vector/vector-index.ts'
import { decimal, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import { ratePerSecond, repeating, takeTurns } from '../turns.ts'
import type { Findings } from '../workloads/study.ts'
import { shares, type Share, type VectorSet } from './clusters.ts'
import { numbersIn } from './documents.ts'
import { recallOf, wanted, type Truth } from './exact.ts'

/** Targets apply to filters that match at least 1 / oneInMax of the documents. */
const oneInMax = 100

/** Measures filtered search in a store. The store needs a snapshot of its vector index. */
export async function studyStore(
  file: string,
  { dimension, queries }: VectorSet,
  truth: Truth,
  seconds: number,
): Promise<Findings> {
  const store = new SearchedStore(file, dimension)
  const rows: string[][] = []
  const figures: Figure[] = []
  const measure = async (
    search: (query: number) => number[],
    scan: (query: number) => number[],
  ) => {
    const contenders = [
      repeating('the engine', queries.length, search),
      repeating('scanning', queries.length, scan),
    ]
    const [own, scanning] = (await takeTurns(contenders, seconds)).map(ratePerSecond)
    return { own: own!, scanning: scanning!, ratio: own! / scanning! }
  }
  const show = (rates: Awaited<ReturnType<typeof measure>>) => [
    whole(rates.own),
    whole(rates.scanning),
    decimal(rates.ratio),
  ]
  try {
    const searchAll = (query: number) => store.search(queries[query]!, everything)
    const unfiltered = repeating('the engine', queries.length, searchAll)
    const [ofAll] = await takeTurns([unfiltered], seconds)
    const recallOfAll = decimal(recallOf(truth.all, searchAll))
    rows.push(['all', 'none', recallOfAll, whole(ratePerSecond(ofAll!)), '-', '-'])
    for (const share of shares) {
      const search = (query: number) => store.search(queries[query]!, filterOf(share))
      const known = store.list(filterOf(share))
      const same = await measure(search, (query) => store.scan(queries[query]!, known))
      const another = await measure(
        (query) => store.search(queries[query]!, filterOf(share, query)),
        (query) => store.scan(queries[query]!, store.list(filterOf(share, query))),
      )
      const recall = recallOf(truth.matching.get(share)!, search)
      rows.push([share.says, 'the same', decimal(recall), ...show(same)])
      rows.push([share.says, 'another each time', '', ...show(another)])
      if (share.oneIn <= oneInMax)
        figures.push(...filterFigures(share.says, recall, [same.ratio, another.ratio]))
    }
  } finally {
    store.close()
  }
  const title = 'In the store, one thread'
  const head = ['matching', 'filter', 'recall@10', 'queries/s', 'scanning', 'ratio']
  return { tables: [{ title, head, rows }], figures }
}

/**
 * Minimum rate relative to a scan. The tolerance is for filters where the engine itself scans, so
 * that both methods do the same work.
 */
const noSlower = 0.95

function filterFigures(
  says: string,
  recall: number,
  [same, another]: readonly [number, number],
): Figure[] {
  const matching = `in the store, ${says} matching`
  return [
    { what: matching, value: recall, unit: 'recall@10', min: 0.95 },
    {
      what: `${matching}: over scanning a cached list`,
      value: same,
      unit: 'times',
      min: noSlower,
    },
    {
      what: `${matching}: over listing and scanning`,
      value: another,
      unit: 'times',
      min: noSlower,
    },
  ]
}

/** A filter and its matches, which the engine has listed before the search. */
interface Listed {
  readonly filter: Filter
  readonly matches: KnownMatches
}

class SearchedStore {
  readonly #reader: StoreReader
  readonly #view: VectorView
  readonly #matches = new KnownMatches()

  constructor(file: string, dimension: number) {
    this.#reader = new StoreReader(
      file,
      documentView({ vector: { dimension, metric: 'cosine', sourceModel: 'other' } }),
    )
    const snapshot = loadSnapshot(snapshotFolder(file, ''), {
      dimension,
      metric: 'cosine',
      bits: 8,
      capacity: capacityFor(dimension, 8),
      breadth: 128,
      threads: 2,
    })
    if (snapshot === undefined)
      throw new Error('the store has no snapshot of its index: it takes 1,000 vectors')
    this.#view = new VectorView(
      snapshot.segments.map(({ shared }) => shared),
      1,
    )
    this.#reader.store.beginRead()
  }

  /** Lets the engine choose the method. */
  search(query: Float32Array, filter: Filter): number[] {
    return this.#search(query, { filter, matches: this.#matches })
  }

  /** Scans all listed matches, as the engine does for short lists. */
  scan(query: Float32Array, listed: Listed): number[] {
    return this.#search(query, listed)
  }

  list(filter: Filter): Listed {
    const documents = listMatches(filter, Infinity, this.#reader, unlimited)
    const matches = new KnownMatches()
    matches.listOf(matches.nameOf(filter, this.#reader), Infinity, () => documents)
    return { filter, matches }
  }

  #search(query: Float32Array, { filter, matches }: Listed): number[] {
    const { hits } = this.#reader.search(
      {
        by: { kind: 'vector', path: '$vector', numbers: query },
        filter,
        limit: wanted,
        withSearchFields: false,
      },
      unlimited,
      { suffix: '', view: this.#view, metric: 'cosine', matches },
    )
    return hits.map(({ row }) => numbersIn(row.text)[0]!)
  }

  close(): void {
    this.#reader.close()
  }
}

/** A filter that matches one group of a share. `turn` selects the group. */
function filterOf({ field, oneIn }: Share, turn = 0): Filter {
  return { kind: 'eq', path: parsePath(field) as Path, value: turn % oneIn }
}

const unlimited: Budget = { spend: () => undefined }
