/** Fills the term index with texts that a column already contains. */
import { setTimeout as delay } from 'node:timers/promises'
import { ownCaller } from '../../../caller/caller.ts'
import { keyColumns, type Table, type TextIndex } from '../../schema.ts'
import { EngineError } from '../../errors.ts'
import { schemaCacheMs } from '../catalog/catalog.ts'
import { analyzerOf, placeOfIndex } from './row-texts.ts'
import { keyOf, type FoundRow } from './found-row.ts'
import { readRows, type RowAccess } from './read-rows.ts'

/** Number of rows per page. */
const atATime = 100

/**
 * Starts to fill an index, and blocks searches until it is filled. Throws when the column cannot be
 * indexed.
 */
export async function beginFilling(
  { postings }: Pick<RowAccess, 'postings'>,
  table: Table,
  index: TextIndex,
): Promise<void> {
  // The index identifies a text by the key of its row; `keyColumns` throws if the API does not
  // support the key. A static text belongs to many rows.
  keyColumns(table.definition)
  const { columns } = table.definition
  if (columns.some(({ name, isStatic }) => name === index.column && isStatic))
    throw new EngineError(
      'unsupported',
      `${index.column} is static, and static columns cannot have a text index`,
    )
  await postings.beginFilling(placeOfIndex(table, index))
}

/**
 * Fills a new index once other servers have read the schema, so that they index the texts that they
 * write meanwhile.
 */
export async function fillNewIndex(
  access: RowAccess,
  table: Table,
  index: TextIndex,
): Promise<void> {
  await delay(schemaCacheMs + 100)
  await fillIndex(access, table, index, () => undefined)
}

/**
 * Adds the texts of all rows to an index, and enables searches at the end. `report` receives the
 * number of rows read so far.
 */
export async function fillIndex(
  access: RowAccess,
  table: Table,
  index: TextIndex,
  report: (rows: number) => void,
): Promise<void> {
  const { postings } = access
  const timestamp = postings.nextTimestamp()
  const place = placeOfIndex(table, index)
  const column = table.definition.columns.find(({ name }) => name === index.column)!
  const analyzer = analyzerOf(table, column)
  const whole = { ...access, limits: { ...access.limits, scannedMax: Infinity } }
  const query = { filter: everything, sort: [], skip: 0, limit: atATime, columns: [column] }
  let count = 0
  let after: string | undefined
  do {
    const page = await readRows(whole, table, { ...query, after }, ownCaller())
    const texts = page.records.flatMap((row) => {
      const text = row.get(column)
      if (typeof text !== 'string' || text === '') return []
      const key = keyOf((row as FoundRow).values, table)
      return [{ key, text, terms: analyzer.terms(text) }]
    })
    await postings.putAll(place, texts, timestamp)
    report((count += page.records.length))
    after = page.next
  } while (after !== undefined)
  await postings.endFilling(place)
}

const everything = { kind: 'and', of: [] } as const
