/** Conversion of metrics, health, sizes and policies for the pages, without a browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { healthWords } from '../../src/console/operate/health-words.ts'
import {
  addLook,
  looksMax,
  plotsOf,
  timesOf,
  type HealthSample,
} from '../../src/console/operate/history.ts'
import { parseMetrics, total } from '../../src/console/operate/parse-metrics.ts'
import {
  abilitiesOf,
  everywhere,
  resourceOf,
  scopeOf,
  scopeWords,
} from '../../src/console/catalog/policies.ts'
import { percentile, rate } from '../../src/console/operate/rates.ts'
import { sortSizes } from '../../src/console/operate/sort-sizes.ts'

const duration = 'stela_command_duration_seconds_bucket'

function metricsOf(counts: readonly number[], answered: number, failed: number) {
  const bounds = ['0.001', '0.01', '0.1', '+Inf']
  return parseMetrics(
    [
      '# HELP stela_commands_total Commands.',
      `stela_commands_total{command="find",outcome="ok"} ${answered}`,
      `stela_commands_total{command="insertOne",outcome="request_error"} ${failed}`,
      ...counts.map(
        (count, i) => `${duration}{le="${bounds[i]!}",command="find"} ${count}`,
      ),
      'process_resident_memory_bytes 1e8',
    ].join('\n'),
  )
}

describe('metrics', () => {
  test('are parsed according to the text format of Prometheus', () => {
    const metrics = parseMetrics(
      '# TYPE a gauge\na 1\nb{x="1 {\\"}",y=""} 2.5\nb{x="2"} NaN\n',
    )
    assert.equal(total(metrics, 'a'), 1)
    assert.equal(metrics.get('b')![0]!.labels.get('x'), '1 {\\"}')
    assert.equal(
      total(metrics, 'b', ({ labels }) => labels.has('y')),
      2.5,
    )
    assert.equal(total(metrics, 'none'), undefined)
  })

  test('give rates, even after a restart of the server', () => {
    const [before, now] = [metricsOf([0, 0, 0, 0], 100, 5), metricsOf([0, 0, 0, 0], 160, 5)]
    assert.equal(rate(before, now, 2, 'stela_commands_total'), 30)
    assert.equal(rate(now, before, 2, 'stela_commands_total'), 52.5)
    assert.equal(rate(before, now, 2, 'unknown'), undefined)
  })

  test('give percentiles of the interval between two samples', () => {
    const before = metricsOf([10, 10, 10, 10], 10, 0)
    const now = metricsOf([10, 60, 110, 110], 110, 0)
    // A hundred commands: half of them take 1 to 10 ms, half 10 to 100 ms.
    assert.equal(Math.round(percentile(before, now, 0.5)!), 10)
    assert.equal(percentile(before, now, 0.25)!.toFixed(3), '5.500')
    assert.equal(Math.round(percentile(before, now, 0.99)!), 98)
    assert.equal(percentile(now, now, 0.5), undefined)
    const slow = metricsOf([10, 10, 10, 20], 20, 0)
    assert.equal(percentile(before, slow, 0.5), 100)
  })

  test('become plots of commands, latency and memory', () => {
    let looks: readonly HealthSample[] = []
    for (let i = 0; i <= looksMax; i++)
      looks = addLook(looks, { time: i * 2, metrics: metricsOf([i, i, i, i], i * 4, 0) })
    assert.equal(looks.length, looksMax)
    const plots = plotsOf(looks)
    assert.deepEqual(
      plots.map(({ title }) => title),
      ['Commands per second', 'Latency', 'Memory'],
    )
    const [answered, failed] = plots[0]!.series
    assert.equal(answered!.points.length, timesOf(looks).length)
    assert.deepEqual(new Set(answered!.points), new Set([2]))
    assert.deepEqual(new Set(failed!.points), new Set([0]))
    assert.deepEqual(new Set(plots[2]!.series[0]!.points), new Set([1e8]))
  })
})

test('health is described in sentences', () => {
  const store = { name: 'store', status: 'UP' } as const
  assert.deepEqual(healthWords({ status: 'UP', checks: [store] }), {
    isWell: true,
    title: 'Healthy',
    sentences: ['The store is readable and writable.'],
  })
  const problem = 'the disk is full. Make room'
  const { isWell, sentences } = healthWords({
    status: 'DOWN',
    checks: [{ ...store, status: 'DOWN', data: { problem } }],
  })
  assert(!isWell)
  assert.deepEqual(sentences, ['Store: the disk is full. Make room.'])
})

test('sizes are sorted by any column, with unknown values last', () => {
  const row = { database: '1', databaseName: 'stela', keyspace: 'k', kind: 'collection' }
  const rows = [
    { ...row, name: 'a10', bytes: 5 },
    { ...row, name: 'a9', bytes: 50 },
    { ...row, name: 'b' },
  ]
  const names = (
    ...order: Parameters<typeof sortSizes> extends [unknown, ...infer R] ? R : never
  ) => sortSizes(rows, ...order).map(({ name }) => name)
  assert.deepEqual(names('bytes', -1), ['a9', 'a10', 'b'])
  assert.deepEqual(names('bytes', 1), ['a10', 'a9', 'b'])
  assert.deepEqual(names('name', 1), ['a9', 'a10', 'b'])
  assert.deepEqual(names('kind', 1), ['a9', 'a10', 'b'])
})

test('policies are converted to form fields and back', () => {
  const scopes = [
    everywhere,
    { database: 'd', keyspace: '', target: '' },
    { database: '', keyspace: 'main', target: '' },
    { database: 'd', keyspace: 'main', target: 'carts' },
  ]
  const resources = scopes.map((scope) => resourceOf('o', scope))
  assert.deepEqual(resources, [
    'drn:astra:org:o',
    'drn:astra:org:o:db:d',
    'drn:astra:org:o:db:*:keyspace:main',
    'drn:astra:org:o:db:d:keyspace:main:table:carts',
  ])
  assert.deepEqual(resources.map(scopeOf), scopes)
  assert.deepEqual(
    resources.map((resource) => scopeWords(resource, () => 'shop')),
    ['everywhere', 'database shop', 'keyspace main', 'database shop, keyspace main, carts'],
  )
  assert.equal(scopeWords('something else'), 'something else')
  assert.deepEqual(abilitiesOf(['db-table-select', 'db-cql']), {
    labels: ['Read data'],
    others: 1,
  })
})
