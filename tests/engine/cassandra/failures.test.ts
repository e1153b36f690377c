/** What clusters that no test can have say, and what it means. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, types } from 'cassandra-driver'
import { engineErrorOf } from '../../../src/engine/cassandra/cluster/failures.ts'

const { invalid } = types.responseErrorCodes

test('a limit on indexes is told by its words, which differ between products', () => {
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
