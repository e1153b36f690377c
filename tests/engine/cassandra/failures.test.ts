/** Failures that the test node cannot produce, and the engine errors that they become. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, types } from 'cassandra-driver'
import { engineErrorOf } from '../../../src/engine/cassandra/cluster/failures.ts'

const { invalid, serverError, unavailableException } = types.responseErrorCodes

test('connection errors that a setting causes name the setting to change', () => {
  for (const [failure, says] of [
    [
      new errors.ArgumentError(
        "localDataCenter was configured as 'dc9', but only found hosts in data centers: [dc1, dc2]",
      ),
      'has no data center dc9. Set --local-datacenter to one of: dc1, dc2',
    ],
    [
      new errors.AuthenticationError(
        'Host 10.0.0.1:9042 requires authentication, but no authenticator found in the options',
      ),
      'requires a user and a password. Set --cassandra-user and --cassandra-password',
    ],
    [
      new errors.AuthenticationError('Bad credentials'),
      'rejects the connection: Bad credentials',
    ],
  ] as const) {
    const none = new errors.NoHostAvailableError({ '10.0.0.1:9042': failure })
    assert.equal(
      engineErrorOf(none).message,
      `no node of the cluster can be reached: 10.0.0.1:9042 ${says}`,
    )
  }
})

test('errors of index limits are recognised by their message, which differs between products', () => {
  for (const message of [
    'Cannot have more than 100 indexes, failed to create index on table ks.books',
    'Guardrail secondary_indexes_per_table violated: Tables cannot have more than 8 ' +
      'secondary indexes, aborting the creation of secondary index a on table books',
  ])
    assert.equal(
      engineErrorOf(new errors.ResponseError(invalid, message)).kind,
      'indexLimit',
    )
  const other = 'Cannot have more than 2 clustering columns'
  const { kind } = engineErrorOf(new errors.ResponseError(invalid, other))
  assert.equal(kind, 'unsupported')
})

test('an unspecific failure becomes an error of the attempted operation', () => {
  for (const failure of [
    new TypeError('Not a valid text value, expected String obtained 7.'),
    new errors.ResponseError(serverError, 'java.lang.RuntimeException'),
  ])
    for (const act of ['read', 'write'] as const)
      assert.equal(engineErrorOf(failure, act).kind, act)
})

test('unreachable hosts are distinguished from too few replicas', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const tooFew = new errors.ResponseError(
    unavailableException,
    'Cannot achieve consistency',
  )
  for (const [failure, kind] of [
    [new errors.NoHostAvailableError({}), 'unreachable'],
    [new errors.NoHostAvailableError({ '10.0.0.1:9042': refused }), 'unreachable'],
    [new errors.NoHostAvailableError({ a: refused, b: tooFew }), 'unavailable'],
    [tooFew, 'unavailable'],
  ] as const)
    assert.equal(engineErrorOf(failure).kind, kind)
})
