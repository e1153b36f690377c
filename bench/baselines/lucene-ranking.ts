/** Baseline: the order in which Lucene ranks texts (LuceneRanking.java). */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { JudgedSet } from '../quality/sets.ts'
import { findLucene } from './lucene.ts'

const run = promisify(execFile)

/** Bytes of the results that are accepted. */
const outputMax = 2 ** 26

/**
 * The ids of the best documents of each query, best first; undefined if Java or the jars are not
 * available. `folder` is for temporary files.
 */
export async function rankByLucene(
  folder: string,
  { documents, queries }: JudgedSet,
  limit: number,
): Promise<readonly (readonly string[])[] | undefined> {
  const lucene = await findLucene()
  if (lucene === undefined) return undefined
  const write = (name: string, of: readonly { readonly text: string }[]) => {
    const path = join(folder, name)
    const lines = of.map(({ text }) => text.replaceAll(/\s+/g, ' '))
    writeFileSync(path, lines.join('\n') + '\n')
    return path
  }
  const program = join(import.meta.dirname, '../quality/LuceneRanking.java')
  const { stdout } = await run(
    lucene.java,
    [
      ...['-cp', join(lucene.jars, '*'), program],
      ...[write('lucene-documents.txt', documents), write('lucene-queries.txt', queries)],
      String(limit),
    ],
    { maxBuffer: outputMax },
  )
  return stdout
    .split('\n')
    .slice(0, queries.length)
    .map((line) =>
      line
        .split(' ')
        .filter((number) => number !== '')
        .map((number) => documents[Number(number)]!.id),
    )
}
