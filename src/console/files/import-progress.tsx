/** Progress, rate and rejected records of an import. */
import type { Place } from '../api/place.ts'
import { routeTo } from '../navigation/route.ts'
import { Button } from '../kit/button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { formatBytes, formatCount, formatMany, formatSeconds } from '../kit/format.ts'
import { useStore } from '../kit/hooks.ts'
import { ErrorNotice, Notice } from '../kit/notice.tsx'
import { secondsLeft } from './import-run.ts'
import type { ImportState, RunningImport } from './import-state.ts'

export function ImportProgress({
  running,
  place,
}: {
  readonly running: RunningImport
  readonly place: Place
}) {
  const state = useStore(running.state)
  const isRunning = state.phase === 'running' || state.phase === 'stopping'
  const one = place.kind === 'table' ? 'row' : 'document'
  return (
    <div class="stack long-list">
      {isRunning ? (
        <div class="stack" role="status" aria-live="off">
          <progress
            max={state.bytesTotal}
            value={state.bytesRead}
            aria-label="Progress of the import"
          />
          <p class="progress-words">{progressWords(state, one)}</p>
        </div>
      ) : (
        <Ending state={state} one={one} />
      )}
      <div class="row">
        {isRunning && (
          <Button
            kind="danger"
            onClick={() => running.cancel()}
            isDisabled={state.phase === 'stopping'}
          >
            {state.phase === 'stopping' ? 'Stopping' : 'Cancel'}
          </Button>
        )}
        {!isRunning && state.inserted > 0 && (
          <a
            class="button"
            href={routeTo(place.database, place.keyspace, place.name, 'data')}
          >
            Show the data
          </a>
        )}
        {!isRunning && state.inserted > 0 && state.isSearched && (
          <a
            class="button"
            href={routeTo(place.database, place.keyspace, place.name, 'search')}
          >
            Search
          </a>
        )}
        {state.rejected > 0 && (
          <Button icon="save" onClick={() => running.saveRejected()} isDisabled={isRunning}>
            Download rejected lines
          </Button>
        )}
      </div>
      {state.reasons.length > 0 && (
        <DataTable
          label="Rejected lines"
          columns={[
            { title: 'Line', isNumber: true, render: ({ line }) => formatCount(line) },
            { title: 'Reason', render: ({ message }) => message },
            {
              title: 'Record',
              render: ({ text }) => <code class="preview-cell">{text.slice(0, 300)}</code>,
            },
          ]}
          rows={state.reasons}
          keyOf={({ line, text }) => `${line} ${text.slice(0, 40)}`}
        />
      )}
    </div>
  )
}

function progressWords(state: ImportState, one: string): string {
  const { inserted, rejected, bytesRead, bytesTotal, elapsedMs } = state
  const perSecond = elapsedMs < 500 ? 0 : (inserted + rejected) / (elapsedMs / 1000)
  const left = secondsLeft(bytesRead, bytesTotal, elapsedMs)
  return [
    `${formatMany(inserted, one)} inserted`,
    ...(rejected > 0 ? [`${formatCount(rejected)} rejected`] : []),
    ...(state.textless > 0
      ? [`${formatCount(state.textless)} without a text to search by`]
      : []),
    `${formatBytes(bytesRead)} of ${formatBytes(bytesTotal)}`,
    ...(perSecond > 0 ? [`${formatCount(Math.round(perSecond))} a second`] : []),
    ...(left === undefined ? [] : [`${formatSeconds(left)} left`]),
  ].join(' · ')
}

function Ending({ state, one }: { readonly state: ImportState; readonly one: string }) {
  const { phase, inserted, rejected, textless, elapsedMs, error } = state
  const counts =
    `${formatMany(inserted, one)} inserted` +
    (rejected > 0 ? `, ${formatCount(rejected)} rejected` : '') +
    (textless > 0 ? `, ${formatCount(textless)} without a text to search by` : '')
  if (phase === 'failed')
    return (
      <>
        <Notice kind="warning" title="The import stopped">
          {counts}. The rest of the file was not sent.
        </Notice>
        <ErrorNotice error={error} />
      </>
    )
  const isCancelled = phase === 'cancelled'
  return (
    <Notice
      kind={isCancelled || rejected > 0 ? 'warning' : 'good'}
      title={isCancelled ? 'Cancelled' : 'Done'}
    >
      {counts}, in {formatSeconds(elapsedMs / 1000)}.
    </Notice>
  )
}
