/** `npm run test:bench`: each study at toy size, so that it still runs when it is needed. */
import { studies } from '../../bench/workloads/registry.ts'
import { testStudy } from './toy-study.ts'

/** Where what they measure is at hand: in tests/cassandra and tests/package. */
const elsewhere = ['cassandra', 'package']

/** As few as a study needs to go through all that it does. */
const toySizes: Readonly<Record<string, readonly number[]>> = {
  vector: [1200],
  lexical: [200],
  hybrid: [100],
  tables: [50, 250],
  mcp: [100],
  scale: [1],
  console: [2000],
  writes: [100, 300],
}

for (const study of studies.filter(({ name }) => !elsewhere.includes(name)))
  testStudy(study, toySizes[study.name]!)
