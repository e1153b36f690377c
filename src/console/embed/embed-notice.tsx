/** Shows on a page that its documents are being made searchable. */
import type { Place } from '../api/place.ts'
import { Button } from '../kit/button.tsx'
import { useStore } from '../kit/hooks.ts'
import { Notice } from '../kit/notice.tsx'
import { progressWords } from './embed-progress.tsx'
import { embedRuns, keyOfRun, type RunningEmbed } from './running-embed.ts'

export function EmbedNotice({
  place,
  onShow,
}: {
  readonly place: Place
  readonly onShow: () => void
}) {
  const running = useStore(embedRuns).get(keyOfRun(place))
  return running === undefined ? null : <RunningNotice running={running} onShow={onShow} />
}

function RunningNotice({
  running,
  onShow,
}: {
  readonly running: RunningEmbed
  readonly onShow: () => void
}) {
  const state = useStore(running.state)
  if (state.phase !== 'running' && state.phase !== 'stopping') return null
  return (
    <Notice title="Documents are being made searchable">
      <div class="row">
        {progressWords(state)}
        <Button onClick={onShow}>Show</Button>
        <Button kind="danger" onClick={() => running.stop()}>
          Stop
        </Button>
      </div>
    </Notice>
  )
}
