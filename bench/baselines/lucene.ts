/**
 * Baseline: Lucene in its own process (LuceneSearch.java), with one segment, BM25 and no stored
 * fields. Maven downloads the jars into a cache on the first run.
 */
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import { findJava, findMaven } from '../../tests/cassandra/tools.ts'

const run = promisify(execFile)
const version = '9.12.1'
const artifacts = ['lucene-core', 'lucene-analysis-common']

export class Lucene {
  /** Bytes on disk. */
  size = 0
  readonly #process: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>

  private constructor(process: ChildProcessWithoutNullStreams) {
    this.#process = process
    process.stderr.resume()
    this.#lines = createInterface(process.stdout)[Symbol.asyncIterator]()
  }

  /** Indexes texts in a folder; undefined when Java or the jars are not available. */
  static async start(folder: string, texts: Iterable<string>): Promise<Lucene | undefined> {
    const tools = await findLucene()
    if (tools === undefined) return undefined
    const file = join(folder, 'lucene-texts.txt')
    writeFileSync(file, [...texts].join('\n') + '\n')
    const program = join(import.meta.dirname, '../lexical/LuceneSearch.java')
    const lucene = new Lucene(spawn(tools.java, ['-cp', join(tools.jars, '*'), program]))
    lucene.size = Number(await lucene.#ask(`index ${join(folder, 'lucene')} ${file}`))
    return lucene
  }

  /**
   * Sets the queries that `search` runs. `operator` decides whether a match must have all words of
   * a query or at least one.
   */
  async setQueries(
    queries: readonly (readonly string[])[],
    operator: LexicalOperator,
  ): Promise<void> {
    const lines = queries.map((words) => words.join(' '))
    const occur = operator === 'all' ? 'MUST' : 'SHOULD'
    await this.#ask([`queries ${lines.length} ${occur}`, ...lines].join('\n'))
  }

  /** Runs each query once; returns the milliseconds of each. */
  async search(limit: number): Promise<number[]> {
    const times = await this.#ask(`search ${limit}`)
    return times.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6)
  }

  stop(): void {
    this.#process.kill()
  }

  async #ask(lines: string): Promise<string> {
    this.#process.stdin.write(`${lines}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('Lucene has ended')
    return value
  }
}

/** Java, and the folder with Lucene's jars; undefined if either is not available. */
export async function findLucene(): Promise<{ java: string; jars: string } | undefined> {
  try {
    const { program: java } = await findJava()
    const jars = join(homedir(), '.cache/stela/lucene', version)
    const missing = artifacts.filter(
      (name) => !existsSync(join(jars, `${name}-${version}.jar`)),
    )
    if (missing.length > 0) mkdirSync(jars, { recursive: true })
    for (const name of missing)
      await run(await findMaven(), [
        ...['-q', '-B', 'dependency:copy', `-DoutputDirectory=${jars}`],
        `-Dartifact=org.apache.lucene:${name}:${version}`,
      ])
    return { java, jars }
  } catch {
    return undefined
  }
}
