/** Executes plans: reads pages of rows, counts matches and lists them. */
import type { Filter } from '../../../language/filters/filter.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { Budget } from '../store/budget.ts'
import { bare, type DocRow } from '../format/doc-row.ts'
import type { StoredPosition } from '../format/position.ts'
import { firstNumbers } from './candidates.ts'
import { Execution } from './execution.ts'
import { planList, resultOrder, type Plan } from './plan.ts'
import { sizeOf } from './access-paths.ts'
import type { CountResult, Result } from './result.ts'
import { positionOf } from './sort-position.ts'
import type { StoreLookup } from './store-lookup.ts'
import { wantedBy, type StoreQuery } from './store-query.ts'
import { TopRows } from './top-rows.ts'
import { ValueWalk } from './value-walk.ts'

/** Reads a page. `plan` must be a plan of this query, made in the snapshot that is read. */
export function execute(
  plan: Plan,
  query: StoreQuery,
  lookup: StoreLookup,
  budget: Budget,
): Result {
  const order = resultOrder(plan)
  if (plan.access.kind === 'id') {
    const row = lookup.store.rowById(plan.access.id)
    const rows = row === undefined ? [] : [row]
    const met = { entries: rows.length, documents: rows.length }
    return { rows, more: false, order, plan, met }
  }
  const { limit, sizeMax = Infinity } = query
  // On a reader thread (`hold`), the texts are read after all rows are found (row-transfer.ts).
  const isTextless = budget.hold !== undefined
  const isForwarded = query.textsOnly === true && !query.withSearchFields
  // The texts of a page are joined by one statement, unless the read has to parse documents to
  // check the filter. It then returns the parsed texts one by one.
  const joins = isForwarded && !isTextless && plan.document === undefined
  const wantsTexts = plan.order.by === 'ids' ? !isTextless : !isTextless && !joins
  const read = new Execution(plan, lookup, budget, wantsTexts || plan.order.by === 'memory')
  const { met } = read
  read.missing = wantedBy(query)
  const isListed = joins && plan.order.by === 'path' && plan.check.kind === 'always'
  const numbers = isListed
    ? firstNumbers(plan.access, lookup.store, query.after, read.missing)
    : undefined
  met.entries += numbers?.length ?? 0
  const { rows, isCut } =
    numbers === undefined
      ? collect(read, query, joins, isTextless)
      : { rows: numbers.slice(query.skip).map((seq) => bare({ seq })), isCut: false }
  const page = rows.slice(0, limit)
  const more = isCut || rows.length > limit
  if (!joins) return { rows: page, more, order, plan, met }
  const text = joinedText(read, page, sizeMax)
  // If the texts cannot be joined, they are read one by one, up to and including the text that
  // makes the page exceed `sizeMax`.
  if (text === undefined) {
    const filled = upToSize(read, page, sizeMax)
    return { rows: filled, more: more || filled.length < page.length, order, plan, met }
  }
  const last = more ? page.at(-1) : undefined
  const placed = last && (order.by === 'sort' ? read.withText(last) : last)
  const next = placed && positionOf(placed, order, lookup.view)
  const joined = { joined: { text, count: page.length }, next }
  return { rows: [], joined, more, order, plan, met }
}

/**
 * Finds the rows of a page and, if the query looks ahead, the row after the page. `joins`: the
 * caller reads the texts.
 */
function collect(
  read: Execution,
  { after, skip, limit, sizeMax = Infinity }: StoreQuery,
  joins: boolean,
  isTextless: boolean,
): { readonly rows: DocRow[]; readonly isCut: boolean } {
  const rows: DocRow[] = []
  if (read.missing === 0) return { rows, isCut: false }
  let toSkip = skip
  let size = 0
  let isCut = false
  for (const found of inOrder(read, after)) {
    read.missing--
    if (toSkip > 0) toSkip--
    else {
      // The row beyond the limit is not returned: it only shows that more rows follow.
      const isFilled = !joins && !isTextless && rows.length < limit
      const row = isTextless ? bare(found) : isFilled ? read.withText(found) : found
      rows.push(row)
      size += row.text.length
      // A joined page may not have all its texts yet, so its size is not known here.
      isCut = !joins && size > sizeMax && rows.length < limit
    }
    if (isCut || read.missing === 0) break
  }
  return { rows, isCut }
}

/** Counts the matches of a plan, up to `stopAt`. */
export function countMatches(
  plan: Plan,
  stopAt: number,
  lookup: StoreLookup,
  budget: Budget,
): CountResult {
  const { access, check } = plan
  const read = new Execution(plan, lookup, budget)
  const { met } = read
  // A document may have several of the values, so the sum of their entries can exceed the count.
  const isOnce =
    access.kind === 'all' ||
    access.kind === 'range' ||
    (access.kind === 'keys' && access.keys.length <= 1)
  if (check.kind === 'always' && isOnce) {
    const size = sizeOf(access, Infinity, lookup.statistics(budget))
    return { count: Math.min(size, stopAt), plan, met }
  }
  const count = read
    .alongPath()
    .take(stopAt)
    .reduce((counted) => counted + 1, 0)
  return { count, plan, met }
}

/** Sorted document numbers of all matches of a filter, if there are fewer than `max`. */
export function listMatches(
  filter: Filter,
  max: number,
  lookup: StoreLookup,
  budget: Budget,
): Float64Array | undefined {
  const plan = planList(filter, max, lookup.statistics(budget))
  if (plan === undefined) return undefined
  const matches = new Execution(plan, lookup, budget).alongPath()
  return Float64Array.from(matches, ({ seq }) => seq).sort()
}

function inOrder(read: Execution, position: StoredPosition | undefined): Iterable<DocRow> {
  const { plan, lookup, budget } = read
  const { order } = plan
  if (order.by === 'path') return read.alongPath(position)
  const after = position?.by === 'sort' ? position : undefined
  if (order.by === 'ids') return read.byId(order.direction, after && keyOf(after.id))
  const best = new TopRows(order.keys, after, lookup.view, budget)
  return order.by === 'memory'
    ? read.sorted(read.alongPath(), best)
    : new ValueWalk(read, order, after, best).rows()
}

/**
 * The texts of a page, separated by commas; undefined when a text is long or all texts together
 * exceed `sizeMax`.
 */
function joinedText(
  read: Execution,
  page: readonly DocRow[],
  sizeMax: number,
): string | undefined {
  if (page.every(({ text }) => text !== '')) {
    const joined = page.map(({ text }) => text).join(',')
    return joined.length > sizeMax ? undefined : joined
  }
  read.met.documents += page.length
  const numbers = page.map(({ seq }) => seq)
  return read.lookup.store.joinedTexts(numbers, sizeMax)
}

function upToSize(read: Execution, page: readonly DocRow[], sizeMax: number): DocRow[] {
  const rows: DocRow[] = []
  let size = 0
  for (const found of page) {
    if (size > sizeMax) break
    const row = read.withText(found)
    rows.push(row)
    size += row.text.length
  }
  return rows
}
