/** The server's trace of a request, with timings. */
import { DataTable } from '../kit/data-table.tsx'

export interface Trace {
  readonly requestId: string
  readonly durationMicroseconds: number
  readonly events: readonly TraceEvent[]
}

interface TraceEvent {
  readonly eventId: string
  readonly elapsedMicroseconds: number
  readonly message: string
  /** Present in a full trace only. */
  readonly data?: Readonly<Record<string, unknown>>
}

export function TraceView({ trace }: { readonly trace: Trace }) {
  const whole = Math.max(1, trace.durationMicroseconds)
  return (
    <section class="trace" aria-label="Trace">
      <h3>
        Trace of {trace.requestId}, {milliseconds(trace.durationMicroseconds)} in the server
      </h3>
      <DataTable
        label="Events"
        rows={trace.events}
        keyOf={({ eventId }) => eventId}
        columns={[
          {
            title: 'Elapsed',
            isNumber: true,
            render: ({ elapsedMicroseconds }) => milliseconds(elapsedMicroseconds),
          },
          {
            title: 'Timeline',
            isTitleHidden: true,
            render: ({ elapsedMicroseconds }) => (
              <span class="trace-bar" aria-hidden="true">
                <span
                  style={{
                    width: `${Math.min(100, (100 * elapsedMicroseconds) / whole)}%`,
                  }}
                />
              </span>
            ),
          },
          { title: 'Event', render: ({ message }) => message },
        ]}
      />
    </section>
  )
}

function milliseconds(micros: number): string {
  return `${(micros / 1000).toFixed(2)} ms`
}
