/** Updates all documents that match a filter, after showing how many they are. */
import { useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { FieldList } from '../completion/field-paths.ts'
import { printJson } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useDiscard } from '../kit/discard.tsx'
import { TextField } from '../kit/fields.tsx'
import { formatCount } from '../kit/format.ts'
import { useAction, useLoad } from '../kit/hooks.ts'
import { ErrorNotice, Loading } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import { countMatching, updateMatching } from './change-documents.ts'
import { ClauseField } from './clause-field.tsx'
import { noun } from './document-id.ts'
import { readClause } from './read-clause.ts'
import { matchingText } from './selection-bar.tsx'

const start = '{\n  "$set": {  }\n}'

export function UpdateDialog({
  place,
  filter,
  fields,
  onClose,
  onDone,
}: {
  readonly place: Place
  readonly filter: JsonObject
  readonly fields: FieldList
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const [text, setText] = useState(start)
  const [typed, setTyped] = useState('')
  const [progress, setProgress] = useState(0)
  const { value: matching, error: countError } = useLoad(
    (signal) => countMatching(place, filter, signal),
    [],
  )
  const mustType = filter.size === 0 || matching?.isMore === true
  const { run, isBusy, error } = useAction(async () => {
    const update = readClause('update', text)
    if (update === undefined) throw new Error('Write an update, such as { "$set": … }.')
    const { matched, modified } = await updateMatching(place, filter, update, setProgress)
    showToast({
      text: `Updated ${formatCount(modified)} of ${formatCount(matched)} ${noun(place, matched)}.`,
    })
    onDone()
    onClose()
  })
  const { leave, question } = useDiscard(text !== start, onClose)
  const number =
    matching === undefined ? '' : `${matchingText(matching)} ${noun(place, matching.count)}`
  const mayRun =
    matching !== undefined && matching.count > 0 && (!mustType || typed === place.name)
  return (
    <>
      <Dialog
        title={`Update ${number}`}
        size="large"
        onClose={leave}
        actions={
          <>
            <span class="hint push">This cannot be undone.</span>
            <Button onClick={leave}>Cancel</Button>
            <Button kind="primary" isBusy={isBusy} isDisabled={!mayRun} onClick={run}>
              Update {number}
            </Button>
          </>
        }
      >
        <ErrorNotice error={countError ?? error} />
        {matching === undefined && countError === undefined && <Loading label="Counting" />}
        {matching !== undefined && (
          <p>
            {filter.size === 0
              ? `The update changes all ${noun(place, 2)} of ${place.name}.`
              : `The update changes every match of the filter, on all pages: `}
            {filter.size > 0 && <code class="wrapped">{shortFilter(filter)}</code>}
          </p>
        )}
        <ClauseField
          size="fill"
          hasFocus
          clause="update"
          command="updateMany"
          fields={fields}
          value={text}
          onChange={setText}
          error={error}
        />
        {mustType && (
          <TextField
            label={`Type ${place.name} to confirm`}
            value={typed}
            onChange={setTyped}
          />
        )}
        {isBusy && progress > 0 && <p role="status">{formatCount(progress)} updated</p>}
      </Dialog>
      {question}
    </>
  )
}

function shortFilter(filter: JsonObject): string {
  const text = printJson(filter)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
