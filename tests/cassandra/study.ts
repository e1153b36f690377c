/** The benchmark on a node of its own, because tests drop the data of others. */
import { studies } from '../../bench/workloads/registry.ts'
import { testStudy } from '../bench/toy-study.ts'

delete process.env['STELA_TEST_CASSANDRA']
for (const study of studies.filter(({ name }) => name === 'cassandra'))
  testStudy(study, [120])
