/**
 * Determines how long the models of reads run: a number of reads per table or collection, or
 * MINUTES in total. Each target has a separate seed. SEED sets the seed of the first target.
 */
import { after, test } from 'node:test'
import { CollectionReadsModel } from './collection-reads-model.ts'
import type { Servers } from './engines-in-step.ts'
import { seed } from './random.ts'
import { TableReadsModel } from './table-reads-model.ts'

const minutes = Number(process.env['MINUTES'] ?? 0)

interface Model {
  readonly counts: ReadonlyMap<string, number>
  run(isOver: (reads: number) => boolean): Promise<void>
}

/**
 * Defines tests of reads in the suite that calls this function. `servers` is called when the first
 * test runs.
 */
export function testReads(
  servers: () => Servers,
  { targets, reads }: { readonly targets: number; readonly reads: number },
): void {
  const until = performance.now() + minutes * 60_000
  const counts = new Map<string, number>()
  const run = async (kind: string, i: number) => {
    const model: Model =
      kind === 'table'
        ? new TableReadsModel(servers(), seed + i, `t${i}`)
        : new CollectionReadsModel(servers(), seed + i, `c${i}`)
    await model.run((done) => done >= reads)
    for (const [name, count] of model.counts)
      counts.set(`${kind} ${name}`, (counts.get(`${kind} ${name}`) ?? 0) + count)
  }
  for (const kind of ['table', 'collection'])
    for (let i = 0; i < targets; i++)
      test(`${reads} reads of ${kind} ${i} return the expected records, seed ${seed + i}`, () =>
        run(kind, i))
  if (minutes > 0)
    test(`further reads return the expected records for ${minutes} minutes`, async () => {
      for (let i = targets; performance.now() < until; i++) {
        await run('table', i)
        await run('collection', i)
      }
    })
  after(() => {
    console.log(JSON.stringify(Object.fromEntries(counts)))
  })
}
