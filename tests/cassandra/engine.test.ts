/** What every engine must do, on a real node, but for what reads.ts asks. */
import { describeEngine } from '../engine/suite/engine.ts'
import { describeReads } from '../engine/suite/reads.ts'
import { world } from './world.ts'

describeEngine('an engine on a cluster', world, { without: [describeReads] })
