/** Fills the index of terms with the texts that a column has already. */
import { setTimeout as delay } from 'node:timers/promises'
import { ownCaller } from '../../../caller.ts'
import type { Table, TextIndex } from '../../schema.ts'
import { trustedMs } from '../catalog/catalog.ts'
import { analyzerOf, placeOfIndex } from './row-texts.ts'
import { keyOf, type FoundRow } from './found-row.ts'
import { readRows, type RowAccess } from './read-rows.ts'

/** Rows that are read at a time. */
const atATime = 100

/** Other servers know of the index before the rows are read, and see to what they write. */
export async function indexTexts(
  access: RowAccess,
  table: Table,
  index: TextIndex,
): Promise<void> {
  await delay(trustedMs + 100)
  const { postings } = access
  const timestamp = postings.nextTimestamp()
  const place = placeOfIndex(table, index)
  const column = table.definition.columns.find(({ name }) => name === index.column)!
  const whole = { ...access, limits: { scannedMax: Infinity } }
  const query = { filter: everything, sort: [], skip: 0, limit: atATime, columns: [column] }
  let after: string | undefined
  do {
    const page = await readRows(whole, table, { ...query, after }, ownCaller())
    for (const row of page.records) {
      const text = row.get(column)
      if (typeof text !== 'string' || text === '') continue
      const key = keyOf((row as FoundRow).values, table)
      const terms = analyzerOf(table, column).terms(text)
      await postings.put(place, { key, text, terms }, timestamp)
    }
    after = page.next
  } while (after !== undefined)
}

const everything = { kind: 'and', of: [] } as const
