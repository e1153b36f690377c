/** What every engine must do with collections and settings, on a real node. */
import { describeCollections } from '../engine/suite/collections.ts'
import { describeSettings } from '../engine/suite/settings.ts'
import { world } from './world.ts'

describeCollections('an engine on a cluster', world)
describeSettings('an engine on a cluster', world)
