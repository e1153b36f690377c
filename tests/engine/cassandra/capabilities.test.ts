import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, types, type Client } from 'cassandra-driver'
import { probe } from '../../../src/engine/cassandra/cluster/capabilities.ts'
import { apache, fork } from './capabilities.ts'

const { syntaxError, invalid, unauthorized } = types.responseErrorCodes

/** A cluster that rejects a statement with the error code of the first pattern that matches it. */
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

test('probe recognises Apache Cassandra by the syntax that it rejects', async () => {
  const lacking = /\bOR\b| : |BM25|NOT CONTAINS/
  const found = await probe(
    clusterOf([lacking, syntaxError], ofLocal, noDse, noSuchView('indexes')),
  )
  assert.deepEqual(found, { ...apache, release: '5.0', vectors: true })
})

test('probe reports a feature whose statement a fork parses, even if the fork then rejects it', async () => {
  const found = await probe(clusterOf(ofLocal, noDse, noSuchView('sai_column_indexes')))
  assert.deepEqual(found, { ...fork, release: '5.0', vectors: true })
})

test('probe reports no negation index when a release parses NOT CONTAINS but not OR', async () => {
  const lacking = /\bOR\b| : |BM25/
  const found = await probe(
    clusterOf([lacking, syntaxError], ofLocal, noDse, noSuchView('indexes')),
  )
  assert.deepEqual(found, { ...apache, release: '5.0', vectors: true })
})

test('probe reports no index view when the user may not read system_views', async () => {
  const { indexView } = await probe(clusterOf(ofLocal, [/system_views/, unauthorized]))
  assert.equal(indexView, undefined)
})

test('probe reports the release of Cassandra and then that of the fork', async () => {
  const found = await probe(clusterOf(ofLocal))
  assert.equal(found.release, '5.0, DSE 6.9.21')
})

test('probe reports a cluster that does not support vectors', async () => {
  const { vectors } = await probe(clusterOf([/ANN OF/, syntaxError], ofLocal))
  assert.equal(vectors, false)
})
