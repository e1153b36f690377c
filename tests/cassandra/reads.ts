/** Of what every engine must do, that which takes longer than `npm test` has time for. */
import { describeReads } from '../engine/suite/reads.ts'
import { world } from './world.ts'

describeReads('an engine on a cluster', world)
