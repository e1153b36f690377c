/** The benchmark on a node. It measures one of its own: tests drop what others have made. */
import { studies } from '../../bench/workloads/registry.ts'
import { testStudy } from '../bench/toy-study.ts'

delete process.env['STELA_TEST_CASSANDRA']
for (const study of studies.filter(({ name }) => name === 'cassandra'))
  testStudy(study, [120])
