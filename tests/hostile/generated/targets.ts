/** Collections and tables that hostile clients read and change. */
import { load } from '../attack.ts'
import type { HostileServer } from '../hostile-server.ts'
import { fields, numbers } from './choices.ts'

export const keyspace = '/default_keyspace'

export const targets = {
  collections: [
    'arrays',
    'large',
    'wide',
    'many',
    'texts',
    'models',
    'scratch',
  ] as string[],
  tables: ['cells', 'lines', 'scratch_rows'] as string[],
}

const rowColumns = {
  id: 'text',
  n: 'int',
  t: 'text',
  l: { type: 'list', valueType: 'int' },
  s: { type: 'set', valueType: 'int' },
  m: { type: 'map', keyType: 'text', valueType: 'int' },
  v: { type: 'vector', dimension: 64 },
}

/**
 * Creates the targets and their data. `scale` is the size of the data relative to long runs, which
 * use 1. A tenth of the data is enough for a functional check.
 */
export async function makeTargets(server: HostileServer, scale: number): Promise<void> {
  const count = (full: number) => Math.max(2, Math.round(full * scale))
  const create = (name: string, options: object = {}) =>
    server.command(keyspace, { createCollection: { name, options } })

  await create('arrays')
  await load(
    server,
    'arrays',
    count(200),
    (n) => ({
      _id: n,
      a: numbers(count(1_000)),
      b: n,
      tags: numbers(50).map((tag) => `tag ${tag + n}`),
      o: fields(20, (at) => at * n),
    }),
    20,
  )

  await create('large', { indexing: { deny: ['parts', 'text', 'tree', 'objects'] } })
  await load(
    server,
    'large',
    count(20),
    (n) => ({
      _id: n,
      b: n,
      parts: numbers(count(100_000)),
      text: 'x'.repeat(count(500_000)),
      tree: treeOf(12, 2),
      objects: numbers(count(5_000)).map((x) => ({ x, y: { z: [x, n] } })),
    }),
    2,
  )

  await create('wide')
  await load(server, 'wide', count(1_000), (n) => ({
    _id: n,
    ...fields(100, (at) => (n * 7 + at) % 97),
  }))

  await create('many')
  await load(server, 'many', count(10_000), (n) => ({
    _id: n,
    b: n % 97,
    text: `text ${n}`,
  }))

  await create('texts', { vector: { dimension: 256 } })
  await load(server, 'texts', count(500), (n) => ({
    _id: n,
    b: n,
    $lexical: `some words and a few others w${n} w${n % 7}`,
    $vector: numbers(256).map((at) => Math.sin(n * 256 + at)),
  }))

  await create('models', modelOptions)
  await load(server, 'models', count(30), (n) => ({
    _id: n,
    $hybrid: `a text of number ${n}`,
  }))

  await create('scratch', {
    vector: { dimension: 16 },
    indexing: { deny: ['parts', 'text', 'objects'] },
  })

  for (const name of targets.tables)
    await server.command(keyspace, {
      createTable: {
        name,
        definition: {
          columns: rowColumns,
          primaryKey: { partitionBy: ['id'], partitionSort: { n: 1 } },
        },
      },
    })
  await load(server, 'cells', count(200), (n) => rowOf(n, count(1_000)), 20)
  await load(server, 'cells', 4, (n) => rowOf(1_000 + n, count(100_000)), 1)
  await load(server, 'lines', count(4_000), (n) => rowOf(n, 1))
}

/** Options of a collection whose texts the server embeds with its local model. */
export const modelOptions = {
  vector: { service: { provider: 'local', modelName: 'all-MiniLM-L6-v2' } },
}

function rowOf(n: number, length: number): object {
  return {
    id: `row ${n % 50}`,
    n,
    t: `text ${n}`,
    l: numbers(length),
    s: numbers(Math.min(length, 1_000)),
    m: fields(Math.min(length, 500), (at) => at, 'k'),
    v: numbers(64).map((at) => Math.sin(n * 64 + at)),
  }
}

/** A tree of objects, `depth` levels deep. */
function treeOf(depth: number, width: number): unknown {
  return depth === 0 ? 1 : fields(width, () => treeOf(depth - 1, width))
}
