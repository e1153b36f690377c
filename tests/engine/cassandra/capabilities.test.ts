import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, types, type Client } from 'cassandra-driver'
import { probe } from '../../../src/engine/cassandra/cluster/capabilities.ts'
import { apache, fork } from './capabilities.ts'

const { syntaxError, invalid, unauthorized } = types.responseErrorCodes

/** Refuses what the first expression that matches has a code for. */
function clusterOf(...refusals: (readonly [RegExp, number])[]): Client {
  const execute = (text: string) => {
    const [, code] = refusals.find(([refused]) => refused.test(text)) ?? []
    if (code !== undefined)
      return Promise.reject(new errors.ResponseError(code, 'refused by the test'))
    return Promise.resolve({ rows: [{ release_version: '5.0', dse_version: '6.9.21' }] })
  }
  return { execute } as unknown as Client
}

const noDse = [/dse_version/, invalid] as const
const ofLocal = [/FROM system\.local (?:WHERE|ORDER)/, invalid] as const
const noSuchView = (name: string) =>
  [new RegExp(`system_views\\.${name}\\b`), invalid] as const

test('a cluster of Apache Cassandra is told by what it cannot parse', async () => {
  const lacking = /\bOR\b| : |BM25|NOT CONTAINS/
  const found = await probe(
    clusterOf([lacking, syntaxError], ofLocal, noDse, noSuchView('indexes')),
  )
  assert.deepEqual(found, { ...apache, release: '5.0', vectors: true })
})

test('a relative that parses all, and refuses it for what it says, has it', async () => {
  const found = await probe(clusterOf(ofLocal, noDse, noSuchView('sai_column_indexes')))
  assert.deepEqual(found, { ...fork, release: '5.0', vectors: true })
})

test('a release that parses NOT CONTAINS and no OR has no index for it', async () => {
  const lacking = /\bOR\b| : |BM25/
  const found = await probe(
    clusterOf([lacking, syntaxError], ofLocal, noDse, noSuchView('indexes')),
  )
  assert.deepEqual(found, { ...apache, release: '5.0', vectors: true })
})

test('nobody waits for indexes where it cannot be seen whether they are ready', async () => {
  const { indexView } = await probe(clusterOf(ofLocal, [/system_views/, unauthorized]))
  assert.equal(indexView, undefined)
})

test('the release of a relative is told beside that of Cassandra', async () => {
  const found = await probe(clusterOf(ofLocal))
  assert.equal(found.release, '5.0, DSE 6.9.21')
})

test('a cluster without vectors is known as such', async () => {
  const { vectors } = await probe(clusterOf([/ANN OF/, syntaxError], ofLocal))
  assert.equal(vectors, false)
})
