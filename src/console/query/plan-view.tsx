/**
 * Shows how the server read the records of a query: each plan, with its estimate and the counts of
 * the read.
 */
import { DataTable } from '../kit/data-table.tsx'
import { formatCount, formatMs } from '../kit/format.ts'
import { Notice } from '../kit/notice.tsx'
import type { Trace } from './trace-view.tsx'

/** The data of a trace event about a read, which the server creates with `countsOf`. */
interface PlannedRead {
  readonly plan: string
  readonly expected?: number
  readonly entries?: number
  readonly documents?: number
  readonly elapsedMs: number
}

export function PlanView({ trace }: { readonly trace: Trace }) {
  const reads = trace.events.flatMap(({ eventId, data }) =>
    typeof data?.['plan'] === 'string'
      ? [{ ...(data as unknown as PlannedRead), eventId }]
      : [],
  )
  if (reads.length === 0)
    return (
      <div class="toolbar-notes">
        <Notice>
          The server reported no plan: full tracing is disabled on the server, or the query
          was a search.
        </Notice>
      </div>
    )
  return (
    <section class="trace" aria-label="Explanation">
      <h3>How the records were read</h3>
      <DataTable
        label="Plans"
        rows={reads}
        keyOf={({ eventId }) => eventId}
        columns={[
          { title: 'Plan', render: ({ plan }) => plan },
          count('Entries expected', ({ expected }) => expected),
          count('Entries passed', ({ entries }) => entries),
          count('Documents read', ({ documents }) => documents),
          {
            title: 'Duration',
            isNumber: true,
            render: ({ elapsedMs }) => formatMs(elapsedMs),
          },
        ]}
      />
    </section>
  )
}

function count(title: string, of: (read: PlannedRead) => number | undefined) {
  const render = (read: PlannedRead) => {
    const value = of(read)
    return value === undefined ? 'not counted' : formatCount(Math.round(value))
  }
  return { title, isNumber: true, render }
}
