/** Progress, rate and failed documents of a run that makes documents searchable. */
import { Button } from '../kit/button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { formatCount, formatMany, formatSeconds } from '../kit/format.ts'
import { useStore } from '../kit/hooks.ts'
import { ErrorNotice, Notice } from '../kit/notice.tsx'
import type { EmbedState, RunningEmbed } from './running-embed.ts'

export function EmbedProgress({
  running,
  onAgain,
}: {
  readonly running: RunningEmbed
  /** Shows the form again. */
  readonly onAgain: () => void
}) {
  const state = useStore(running.state)
  const isRunning = state.phase === 'running' || state.phase === 'stopping'
  return (
    <div class="stack long-list">
      {isRunning ? (
        <div class="stack" role="status" aria-live="off">
          <progress
            {...(state.total === undefined
              ? {}
              : { max: state.total, value: state.counts?.seen ?? 0 })}
            aria-label="Progress of the embedding"
          />
          <p class="progress-words">{progressWords(state)}</p>
        </div>
      ) : (
        <Ending state={state} />
      )}
      <div class="row">
        {isRunning ? (
          <Button
            kind="danger"
            onClick={() => running.stop()}
            isDisabled={state.phase === 'stopping'}
          >
            {state.phase === 'stopping' ? 'Stopping' : 'Stop'}
          </Button>
        ) : (
          <Button onClick={onAgain}>
            {state.phase === 'done' ? 'Choose other documents' : 'Continue'}
          </Button>
        )}
      </div>
      {state.failures.length > 0 && (
        <DataTable
          label="Failed documents"
          columns={[
            {
              title: 'Document',
              render: ({ id }) => <code class="preview-cell">{id}</code>,
            },
            { title: 'Reason', render: ({ message }) => message },
          ]}
          rows={state.failures}
          keyOf={({ id }) => id}
        />
      )}
    </div>
  )
}

/** The progress on one line, for the dialog and for pages. */
export function progressWords({ counts, total, elapsedMs }: EmbedState): string {
  const { seen = 0, embedded = 0, already = 0, textless = 0, failed = 0 } = counts ?? {}
  const perSecond = elapsedMs < 500 ? 0 : seen / (elapsedMs / 1000)
  const isCounted = total !== undefined && total >= seen
  return [
    `${formatMany(embedded, 'document')} embedded`,
    ...(already > 0 ? [`${formatCount(already)} searchable before`] : []),
    ...(textless > 0 ? [`${formatCount(textless)} without a text`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    `${formatCount(seen)}${isCounted ? ` of ${formatCount(total)}` : ''} read`,
    ...(perSecond > 0 ? [`${formatCount(Math.round(perSecond))} a second`] : []),
    ...(perSecond > 0 && isCounted
      ? [`${formatSeconds((total - seen) / perSecond)} left`]
      : []),
  ].join(' · ')
}

function Ending({ state }: { readonly state: EmbedState }) {
  const { phase, counts, elapsedMs, error } = state
  const words =
    counts === undefined
      ? 'No documents were embedded.'
      : [
          `${formatMany(counts.embedded, 'document')} embedded`,
          ...(counts.already > 0
            ? [`${formatCount(counts.already)} searchable before`]
            : []),
          ...(counts.textless > 0
            ? [`${formatCount(counts.textless)} without a text`]
            : []),
          ...(counts.removed > 0
            ? [`${formatCount(counts.removed)} removed meanwhile`]
            : []),
          ...(counts.failed > 0 ? [`${formatCount(counts.failed)} failed`] : []),
          ...(counts.shortened > 0
            ? [`${formatCount(counts.shortened)} searched by the start of their words only`]
            : []),
        ].join(', ') + `, in ${formatSeconds(elapsedMs / 1000)}.`
  if (phase === 'failed')
    return (
      <>
        <Notice kind="warning" title="The run stopped">
          {words} Continue embeds the rest.
        </Notice>
        <ErrorNotice error={error} />
      </>
    )
  if (phase === 'stopped')
    return (
      <Notice kind="warning" title="Stopped">
        {words} Continue embeds the rest.
      </Notice>
    )
  return (
    <Notice kind={(counts?.failed ?? 0) > 0 ? 'warning' : 'good'} title="Done">
      {words}
    </Notice>
  )
}
