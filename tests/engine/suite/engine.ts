/** What every engine must do, whatever it serves itself. */
import { describeClosing } from './closing.ts'
import { describeCollections } from './collections.ts'
import { describeLexical } from './lexical.ts'
import { describeReads } from './reads.ts'
import { describeRows } from './rows.ts'
import { describeSchema } from './schema.ts'
import { describeServes } from './serves.ts'
import { describeSettings } from './settings.ts'
import { describeTables } from './tables.ts'
import { describeVectors } from './vectors.ts'
import type { World } from './world.ts'

const suites = [
  describeServes,
  describeCollections,
  describeReads,
  describeLexical,
  describeVectors,
  describeTables,
  describeRows,
  describeSchema,
  describeSettings,
  describeClosing,
]

type DescribeSuite = (typeof suites)[number]

/** `without` those that are run elsewhere, because they take long. */
export function describeEngine(
  name: string,
  world: World,
  { without = [] }: { readonly without?: readonly DescribeSuite[] } = {},
): void {
  for (const describeSuite of suites)
    if (!without.includes(describeSuite)) describeSuite(name, world)
}
