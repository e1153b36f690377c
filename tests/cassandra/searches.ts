/** `npm run test:cassandra`: what takes longer than `npm test` has time for. */
import { describeClosing } from '../engine/suite/closing.ts'
import { describeLexical } from '../engine/suite/lexical.ts'
import { describeReads } from '../engine/suite/reads.ts'
import { describeVectors } from '../engine/suite/vectors.ts'
import { world } from './world.ts'

for (const describeSuite of [
  describeReads,
  describeLexical,
  describeVectors,
  describeClosing,
])
  describeSuite('an engine on a cluster', world)
