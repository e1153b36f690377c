/** Whether an engine serves exactly the parts of queries that it declares. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { everything } from '../../../src/language/filters/filter.ts'
import { LexicalStore } from '../embedded/lexical/lexical-store.ts'
import { by, Store, tester, where } from '../store.ts'
import {
  anyRow,
  column,
  columns,
  is,
  onText,
  onVector,
  TableStore,
} from '../table-store.ts'
import { VectorWorld } from '../vector-world.ts'
import { RunningEngine, type World } from './world.ts'

export function describeServes(name: string, world: World): void {
  describe(`${name}: queries that the engine serves`, () => {
    const running = new RunningEngine(world)
    const { serves } = world
    const first = { skip: 0, limit: 5, after: undefined }
    const alone = { stable: false, withSearchFields: false }

    test('match the declaration of the engine in reads of documents', async () => {
      const { engine } = running
      const store = await Store.create(engine, 'documents')
      await store.insert([{ _id: 1, n: 1 }])
      const { target } = store
      const query = { ...first, ...alone, filter: where('n', 'eq', 1), sort: by('n') }
      const { served } = await engine.read(target, query, tester)
      assert.deepEqual(served, { filter: serves.filters, sort: serves.sorts })
      const count = await engine.count(target, query.filter, 5, tester)
      assert.equal(count, serves.counts ? 1 : undefined)
    })

    test('match the declaration of the engine in reads of rows', async () => {
      const { engine } = running
      const rows = await TableStore.create(engine)
      const table = await rows.table()
      await rows.put([{ p: 'a', c: 1, word: 'one' }])
      const sort = [{ column: column('word'), direction: 1 } as const]
      const query = { ...first, filter: is('word', 'one'), sort, columns }
      const { served } = await engine.readRows(table, query, tester)
      assert.deepEqual(served, { filter: serves.filters, sort: serves.sorts })
      const count = await engine.countRows(table, query.filter, 5, tester)
      assert.equal(count, serves.counts ? 1 : undefined)
    })

    test('match the declaration of the engine in searches', async () => {
      const { engine } = running
      const vectors = await VectorWorld.create(engine)
      const { target } = await LexicalStore.create(engine, 'texts')
      const rows = await TableStore.create(engine, 'searched')
      await rows.addIndex(onVector)
      await rows.addIndex(onText)
      const table = await rows.table()
      const ofDocuments = { filter: everything, limit: 5, withSearchFields: false }
      const ofRows = { filter: anyRow, limit: 5, columns }
      const near = { kind: 'vector', numbers: vectors.vector() } as const
      const nearRow = { kind: 'vector', numbers: Float32Array.of(1, 2) } as const
      const words = { kind: 'lexical', terms: ['a'], text: 'a', having: 'all' } as const
      const byVector = { ...near, path: '$vector' }
      const byTerms = { ...words, path: '$lexical' }
      const found = [
        await engine.search(vectors.target, { ...ofDocuments, by: byVector }, tester),
        await engine.searchRows(
          table,
          { ...ofRows, by: { ...nearRow, column: column('v') } },
          tester,
        ),
        await engine.search(target, { ...ofDocuments, by: byTerms }, tester),
        await engine.searchRows(
          table,
          { ...ofRows, by: { ...words, column: column('text') } },
          tester,
        ),
      ]
      const filtered = { ...ofDocuments, filter: where('even', 'eq', true) }
      assert.deepEqual(
        [
          await engine.search(vectors.target, { ...filtered, by: byVector }, tester),
          await engine.search(target, { ...filtered, by: byTerms }, tester),
        ].map((result) => result !== undefined),
        [serves.vectors && serves.filters, serves.terms && serves.filters],
      )
      assert.deepEqual(
        found.map((result) => result !== undefined),
        [serves.vectors, serves.vectors, serves.terms, serves.terms],
      )
    })
  })
}
