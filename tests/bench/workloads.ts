/**
 * Part of `npm run test:bench`: runs the benchmark at toy size, to detect changes that break it.
 * Does not check how high the rates are.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documentText } from '../../bench/documents.ts'
import { Histogram } from '../../bench/histogram.ts'
import { runBench } from '../../bench/run.ts'
import { Readings, readingText } from '../../bench/tables/readings.ts'
import { Texts } from '../../bench/texts.ts'
import { Clusters } from '../../bench/vectors/clusters.ts'
import { rateAt } from '../../bench/vectors/curve.ts'
import { compareVersions } from '../../bench/versions.ts'
import { workloads } from '../../bench/workloads/registry.ts'

test('every workload runs against each of its baselines', async () => {
  const { rows, figures } = await runBench({
    workloads,
    sizes: [200],
    connections: [2],
    seconds: 0.05,
    seed: 7,
    progress: () => undefined,
  })
  assert.deepEqual(
    rows.map((row) => row.workload.name),
    workloads.flatMap(({ name, against }) => against.map(() => name)),
  )
  for (const row of rows) {
    const { name } = row.workload
    const { requestsPerSecond, p50Ms, p99Ms, ratio, memory } = row
    for (const value of [requestsPerSecond, p50Ms, p99Ms, ratio, memory?.own ?? 1])
      assert(Number.isFinite(value) && value > 0, `${name}: ${JSON.stringify(row)}`)
    assert(p50Ms <= p99Ms, name)
    const documentsPerRequest = row.documentsPerSecond / row.requestsPerSecond
    const expected = name === 'insert-many' ? 100 : name === 'find-sorted' ? 20 : undefined
    if (expected !== undefined)
      assert.equal(Math.round(documentsPerRequest), expected, name)
    else if (!name.startsWith('find-') || name === 'find-one')
      assert.equal(documentsPerRequest.toFixed(6), '1.000000', name)
    else assert(documentsPerRequest > 0 && documentsPerRequest <= 20, name)
  }
  for (const { what, value } of figures) assert(Number.isFinite(value) && value > 0, what)
})

test('two versions are compared by CPU time', async () => {
  const rows = await compareVersions({
    workloads: workloads.filter(
      ({ name }) => name === 'find-one' || name === 'insert-many',
    ),
    sizes: [200],
    connections: [2],
    ...{ seconds: 0.2, seed: 7, starts: 2, rounds: 3 },
    against: fileURLToPath(new URL('../..', import.meta.url)),
    progress: () => undefined,
  })
  assert.deepEqual(
    rows.map(({ workload }) => workload.name),
    ['find-one', 'insert-many'],
  )
  for (const row of rows) {
    const { nowUs, beforeUs, ratio, low, high, whole, rounds } = row
    assert.equal(rounds, 6)
    for (const value of [nowUs, beforeUs, ratio, low, high, whole])
      assert(Number.isFinite(value) && value > 0, JSON.stringify(row))
    assert(low <= ratio && ratio <= high)
  }
})

test('the rate at a given recall is interpolated between the nearest points', () => {
  const line = {
    name: 'index',
    points: [
      { recall: 0.9, queriesPerSecond: 1000 },
      { recall: 0.98, queriesPerSecond: 250 },
    ],
  }
  assert.equal(rateAt(line, 0.9), 1000)
  assert.equal(Math.round(rateAt(line, 0.94)!), 500)
  assert.equal(rateAt(line, 0.5), 1000)
  assert.equal(rateAt(line, 0.99), undefined)
})

test('vectors are normalized, and each has a near neighbour', () => {
  const clusters = new Clusters(7, 64)
  const vectors = Array.from({ length: 3000 }, () => {
    const vector = new Float32Array(64)
    clusters.fill(vector)
    return vector
  })
  const dot = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, number, i) => sum + number * b[i]!, 0)
  for (const vector of vectors.slice(0, 100)) {
    assert(Math.abs(dot(vector, vector) - 1) < 1e-5)
    const nearest = Math.max(
      ...vectors.map((other) => (other === vector ? -1 : dot(vector, other))),
    )
    assert(nearest > 0.5, `${nearest}`)
  }
})

test("word frequencies of texts follow Zipf's law", () => {
  const texts = new Texts(7)
  const words = Array.from({ length: 2000 }, () => texts.next().split(' '))
  const commonest = texts.wordBetween(1, 1)
  const tenth = texts.wordBetween(10, 10)
  const shareOf = (word: string) =>
    words.filter((text) => text.includes(word)).length / words.length
  assert(shareOf(commonest) > 0.98, `${shareOf(commonest)}`)
  assert(Math.abs(shareOf(tenth) - 0.41) < 0.06, `${shareOf(tenth)}`)
  const mean = words.reduce((sum, text) => sum + text.length, 0) / words.length
  assert(mean > 57 && mean < 63, `${mean}`)
})

test('the command line measures one workload at two sizes, and keeps the data in a given folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stela-bench-test-'))
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(new URL('../../bench/canonical.ts', import.meta.url)),
      ...['find-one', '--sizes', '50,150', '--connections', '1', '--seconds', '0.05'],
      ...['--markdown', '--keep', folder],
    ])
    assert.match(stdout, /^- Measured on \d{4}-\d\d-\d\d$/m)
    assert.equal(stdout.match(/^\| findOne by _id +\|/gm)?.length, 2)
    assert.match(stdout, /time with 150 documents over time with 50/)
    assert(!stdout.includes(folder))
    assert.deepEqual((await readdir(folder)).sort(), [
      'documents-150-seed-7',
      'documents-50-seed-7',
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('generated texts depend only on the seed and the number, and have the documented mean length', () => {
  assert.equal(documentText(7, 41), documentText(7, 41))
  assert.notEqual(documentText(7, 41), documentText(8, 41))
  const lengths = Array.from({ length: 1000 }, (_, i) => documentText(7, i).length)
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  assert(mean > 200 && mean < 300, `${mean}`)
})

test('requests for readings use existing keys, and ranges that contain twenty readings', () => {
  for (const size of [20, 250, 1000]) {
    const loaded = new Readings(7, size, 0)
    const rows = Array.from({ length: size }, () => loaded.new())
    const asked = new Readings(7, size)
    const gateways = new Set(rows.map(({ gateway }) => gateway))
    for (let i = 0; i < 50; i++) {
      const { sensor, atMs } = asked.key()
      const same = rows.filter((row) => row.sensor === sensor && row.atMs === atMs)
      assert.equal(same.length, 1)
      const range = asked.range()
      const within = rows.filter(
        (row) =>
          row.sensor === range.sensor && row.atMs >= range.atMs && row.atMs < range.endMs,
      )
      assert.equal(within.length, 20)
      assert(gateways.has(asked.gateway()))
    }
    const lengths = rows.map((row) => readingText(row).length)
    const mean = lengths.reduce((sum, length) => sum + length, 0) / size
    assert(mean > 140 && mean < 180, `${mean}`)
  }
})

test('quantiles of a histogram are at most 2 % above the exact values', () => {
  const histogram = new Histogram()
  for (let i = 1; i <= 1000; i++) histogram.add(i / 10)
  assert.equal(histogram.count, 1000)
  for (const [share, exact] of [
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ] as const) {
    const told = histogram.quantile(share)
    assert(told >= exact && told <= exact * 1.02, `${share}: ${told}`)
  }
})
