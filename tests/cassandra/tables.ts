/** What every engine must do with tables, on a real node. */
import { describeRows } from '../engine/suite/rows.ts'
import { describeSchema } from '../engine/suite/schema.ts'
import { describeTables } from '../engine/suite/tables.ts'
import { world } from './world.ts'

for (const describeSuite of [describeSchema, describeTables, describeRows])
  describeSuite('an engine on a cluster', world)
