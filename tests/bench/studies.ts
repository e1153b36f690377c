/** `npm run test:bench`: runs each study at toy size, to detect changes that break it. */
import { studies } from '../../bench/workloads/registry.ts'
import { testStudy } from './toy-study.ts'

/** Studies that need a node or the package; tests in tests/cassandra and tests/package run them. */
const elsewhere = ['cassandra', 'package']

/** The smallest sizes with which each study executes all of its steps. */
const toySizes: Readonly<Record<string, readonly number[]>> = {
  vector: [1200],
  lexical: [200],
  hybrid: [100],
  quality: [30],
  tables: [50, 250],
  mcp: [100],
  postgres: [250],
  scale: [1],
  console: [2000],
  writes: [100, 300],
}

for (const study of studies.filter(({ name }) => !elsewhere.includes(name)))
  testStudy(study, toySizes[study.name]!)
