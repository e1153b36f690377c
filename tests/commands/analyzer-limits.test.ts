/** Limits of analyzer definitions. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer } from '../harness.ts'

const path = '/default_keyspace'
const { analyzerEntriesMax } = defaultLimits

function entries(count: number): string {
  return Array.from({ length: count }, (_, n) => `w${n}`).join(',')
}

function stop(words: string) {
  const filters = [{ name: 'lowercase' }, { name: 'stop', args: { words } }]
  return { tokenizer: { name: 'whitespace' }, filters }
}

function collection(name: string, analyzer: unknown) {
  return { createCollection: { name, options: { lexical: { enabled: true, analyzer } } } }
}

describe('word lists of an analyzer', () => {
  test('have a maximum number of entries in collections and text indexes', async () => {
    const server = await startServer()
    try {
      const fits = stop(entries(analyzerEntriesMax))
      const larger = stop(entries(analyzerEntriesMax + 1))
      const created = await server.command(path, collection('fits', fits))
      assert.deepEqual(created.codes, [])
      const refused = await server.command(path, collection('larger', larger))
      assert.deepEqual(refused.codes, ['INVALID_CREATE_COLLECTION_OPTIONS'])
      assert.match(
        refused.text,
        /token filter \\"stop\\" has 10001 entries.*maximum is 10000/,
      )
      await server.command(path, {
        createTable: {
          name: 'rows',
          definition: {
            columns: { id: 'int', one: 'text', two: 'text' },
            primaryKey: 'id',
          },
        },
      })
      const index = (column: string, analyzer: unknown) =>
        server.command(`${path}/rows`, {
          createTextIndex: { name: column, definition: { column, options: { analyzer } } },
        })
      assert.deepEqual((await index('one', fits)).codes, [])
      assert.deepEqual((await index('two', larger)).codes, [
        'INVALID_CREATE_COLLECTION_OPTIONS',
      ])
    } finally {
      await server.close()
    }
  })

  test('are returned unchanged and recognised in a repeated request, even after a restart', async () => {
    let server = await startServer()
    try {
      const analyzer = stop(entries(5_000))
      assert.deepEqual((await server.command(path, collection('long', analyzer))).codes, [])
      await server.command(path, {
        createTable: {
          name: 'rows',
          definition: { columns: { id: 'int', text: 'text' }, primaryKey: 'id' },
        },
      })
      await server.command(`${path}/rows`, {
        createTextIndex: {
          name: 'texts',
          definition: { column: 'text', options: { analyzer } },
        },
      })
      for (let round = 0; round < 2; round++) {
        const listed = await server.command(path, {
          findCollections: { options: { explain: true } },
        })
        const [shown] = listed.body.status!['collections'] as [
          { options: { lexical: { analyzer: unknown } } },
        ]
        assert.deepEqual(shown.options.lexical.analyzer, analyzer)
        const indexes = await server.command(`${path}/rows`, {
          listIndexes: { options: { explain: true } },
        })
        assert.ok(indexes.text.includes(JSON.stringify(analyzer)))
        assert.deepEqual(
          (await server.command(path, collection('long', analyzer))).codes,
          [],
        )
        const other = await server.command(path, collection('long', stop('w1')))
        assert.deepEqual(other.codes, ['EXISTING_COLLECTION_DIFFERENT_SETTINGS'])
        const _id = `${round}`
        await server.command(`${path}/long`, {
          insertOne: { document: { _id, $lexical: `W17 kept ${round}` } },
        })
        await server.command(`${path}/rows`, {
          insertOne: { document: { id: round, text: `W17 kept ${round}` } },
        })
        for (const [target, filter] of [
          ['long', { $lexical: { $match: `w4999 kept ${round}` } }],
          ['rows', { text: { $match: `w4999 kept ${round}` } }],
        ] as const) {
          const found = await server.command(`${path}/${target}`, { find: { filter } })
          assert.equal(found.body.data?.documents?.length, 1, found.text)
        }
        // Adding a column rewrites the stored definition of the table, which contains the analyzer.
        await server.command(`${path}/rows`, {
          alterTable: { operation: { add: { columns: { [`more${round}`]: 'int' } } } },
        })
        server = await server.restart()
      }
    } finally {
      await server.close()
    }
  })
})
