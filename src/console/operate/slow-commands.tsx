/** The latest slow commands of the server process that answers the request. */
import { manage, ManageError } from '../api/manage.ts'
import { Button } from '../kit/button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { formatCount, formatMs } from '../kit/format.ts'
import { useLoad } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'

interface SlowCommandsView {
  readonly server: { readonly host: string; readonly process: number }
  readonly slowerThanMs: number
  readonly commands: readonly SlowCommand[]
}

interface SlowCommand {
  readonly time: string
  readonly command: string
  readonly target: string
  readonly elapsedMs: number
  readonly requestId: string
  readonly slowestRead?: string
}

/** The table of slow commands. Renders nothing when the token may not see slow commands. */
export function SlowCommands() {
  const { value, error, isLoading, reload } = useLoad(
    (signal) => manage<SlowCommandsView>('GET', 'slowCommands', undefined, signal),
    [],
  )
  if (error instanceof ManageError && error.isForbidden) return null
  return (
    <section class="stack long-list" aria-labelledby="slow-commands">
      <div class="row">
        <h2 id="slow-commands">Slow commands</h2>
        <Button icon="refresh" kind="quiet" isBusy={isLoading} onClick={reload}>
          Refresh
        </Button>
      </div>
      <ErrorNotice error={error} />
      {value !== undefined && <p class="quiet-text">{wordsOf(value)}</p>}
      {value !== undefined && value.commands.length > 0 && (
        <DataTable
          label="Slow commands"
          columns={[
            { title: 'Time', render: ({ time }) => new Date(time).toLocaleString() },
            { title: 'Command', render: ({ command }) => <code>{command}</code> },
            { title: 'Target', render: ({ target }) => target },
            {
              title: 'Duration',
              isNumber: true,
              render: ({ elapsedMs }) => formatMs(elapsedMs),
            },
            { title: 'Slowest read', render: ({ slowestRead }) => slowestRead },
            { title: 'Request', render: ({ requestId }) => <code>{requestId}</code> },
          ]}
          rows={value.commands}
          keyOf={({ time, requestId }) => `${time} ${requestId}`}
        />
      )}
    </section>
  )
}

function wordsOf({ server, slowerThanMs, commands }: SlowCommandsView): string {
  if (slowerThanMs === 0)
    return 'The server does not record slow commands: it was started with --slow-command 0.'
  const slow = `${formatCount(slowerThanMs)} ms or longer`
  const where = `on ${server.host}, process ${server.process}`
  return commands.length === 0
    ? `No command has taken ${slow} since the start of the server ${where}.`
    : `The latest commands that took ${slow} ${where}.`
}
