/**
 * Runs the study of Cassandra on its own node, because tests that share a node may drop its data.
 */
import { studies } from '../../bench/workloads/registry.ts'
import { testStudy } from '../bench/toy-study.ts'

delete process.env['STELA_TEST_CASSANDRA']
for (const study of studies.filter(({ name }) => name === 'cassandra'))
  testStudy(study, [120])
