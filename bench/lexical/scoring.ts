/**
 * Compares only the scoring with Lucene; texts are not read. Each query is measured in five rounds,
 * and its shortest time counts.
 */
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import type { Budget } from '../../src/engine/embedded/store/budget.ts'
import { LexicalReader } from '../../src/engine/embedded/lexical/reader.ts'
import { StoreConnection } from '../../src/engine/embedded/store/store-connection.ts'
import type { Lucene } from '../baselines/lucene.ts'
import { decimal } from '../report.ts'

const rounds = 5
/** Number of rounds before the measurement, in which the compilers optimize the code. */
const warmUps = 3

const noBudget: Budget = { spend: () => undefined }

export class Scoring {
  readonly #connection: StoreConnection
  readonly #reader: LexicalReader
  readonly #lucene: Lucene | undefined

  constructor(file: string, lucene: Lucene | undefined) {
    this.#connection = new StoreConnection(file)
    this.#reader = new LexicalReader(this.#connection, '')
    this.#lucene = lucene
  }

  /**
   * Returns milliseconds per query of Stela and of Lucene, and their ratio; only those of Stela if
   * Lucene is not available.
   */
  async measure(
    queries: readonly (readonly string[])[],
    operator: LexicalOperator,
    limit: number,
  ): Promise<string[]> {
    const ours = queries.map(() => Infinity)
    const theirs = queries.map(() => Infinity)
    await this.#lucene?.setQueries(queries, operator)
    for (let round = 0; round < warmUps + rounds; round++) {
      const own = this.#score(queries, operator, limit)
      const other = await this.#lucene?.search(limit)
      if (round < warmUps) continue
      own.forEach((ms, i) => (ours[i] = Math.min(ours[i]!, ms)))
      other?.forEach((ms, i) => (theirs[i] = Math.min(theirs[i]!, ms)))
    }
    const mean = (times: readonly number[]) =>
      times.reduce((sum, ms) => sum + ms, 0) / times.length
    const figures = [mean(ours).toFixed(3)]
    if (this.#lucene === undefined) return figures
    return [...figures, mean(theirs).toFixed(3), decimal(mean(ours) / mean(theirs))]
  }

  close(): void {
    this.#connection.close()
  }

  #score(
    queries: readonly (readonly string[])[],
    operator: LexicalOperator,
    limit: number,
  ): number[] {
    return this.#connection.reading(() =>
      queries.map((terms) => {
        const start = performance.now()
        this.#reader.begin()
        const { seqs } = this.#reader.scoreWithAll(terms, { wanted: limit }, noBudget)
        const missing = limit - seqs.length
        if (operator === 'any' && terms.length > 1 && missing > 0)
          this.#reader.scoreWithSome(terms, { wanted: missing }, noBudget)
        return performance.now() - start
      }),
    )
  }
}
