/** Confirms a deletion, shows the number of documents, and offers undo. */
import { useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import { Dialog } from '../kit/dialog.tsx'
import { TextField } from '../kit/fields.tsx'
import { formatCount } from '../kit/format.ts'
import { useAction, useLoad } from '../kit/hooks.ts'
import { ErrorNotice, Loading, messageOf, Notice } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import {
  copyDoomed,
  countMatching,
  deleteDocuments,
  deleteMatching,
  insertDocuments,
  keptCharactersMax,
  type Deletion,
  type Doomed,
  type Matching,
} from './change-documents.ts'
import { idText, noun } from './document-id.ts'

export interface DeleteDialogProps {
  readonly place: Place
  readonly doomed: Doomed
  /** The number of matches, for callers that know it; absent: the dialog counts them. */
  readonly known?: Matching
  readonly onClose: () => void
  readonly onDone: () => void
}

export function DeleteDialog(props: DeleteDialogProps) {
  const { place, doomed, known, onClose, onDone } = props
  const { value: matching, error: countError } = useLoad(
    async (signal): Promise<Matching> =>
      'documents' in doomed
        ? { count: doomed.documents.length, isMore: false }
        : (known ?? countMatching(place, doomed.filter, signal)),
    [],
  )
  const [typed, setTyped] = useState('')
  const [progress, setProgress] = useState(0)
  /** Whether the copies for undo turned out to be too large. The user then has to confirm again. */
  const [isTooLarge, setTooLarge] = useState(false)
  const canKeep = matching?.isMore === false && !isTooLarge
  const { run, isBusy, error } = useAction(async () => {
    const copies = canKeep ? await copyDoomed(place, doomed) : undefined
    if (canKeep && copies === undefined) {
      setTooLarge(true)
      return
    }
    const deletion =
      'documents' in doomed
        ? await deleteDocuments(place, doomed.documents, copies)
        : await deleteMatching(place, doomed.filter, copies, setProgress)
    onDone()
    onClose()
    tellOf(place, deletion, onDone)
  })
  const isAll = 'filter' in doomed && doomed.filter.size === 0
  const mustType = isAll || matching?.isMore === true
  const number =
    matching === undefined
      ? ''
      : `${matching.isMore && known === undefined ? 'more than ' : ''}${formatCount(matching.count)} ${noun(place, matching.count)}`
  return (
    <Dialog
      title={`Delete ${number}?`}
      size="small"
      onClose={onClose}
      submit={{
        run,
        isBusy,
        label: isTooLarge ? `Delete ${number} without undo` : `Delete ${number}`,
        isDanger: true,
        isDisabled:
          matching === undefined ||
          matching.count === 0 ||
          (mustType && typed !== place.name),
      }}
    >
      <ErrorNotice error={countError ?? error} />
      {matching === undefined && countError === undefined && <Loading label="Counting" />}
      {'documents' in doomed ? (
        <p>
          {doomed.documents
            .slice(0, 5)
            .map((document) => idText(place, document))
            .join('; ')}
          {doomed.documents.length > 5 && '; …'}
        </p>
      ) : (
        <p>
          {isAll
            ? `This deletes all ${noun(place, 2)} of ${place.name}.`
            : 'This deletes all matches of the filter, on this page and on all others.'}
        </p>
      )}
      {isTooLarge ? (
        <Notice kind="warning" title="This cannot be undone. Nothing has been deleted yet.">
          The {noun(place, 2)} have more than {formatCount(keptCharactersMax)} characters,
          which is too much to keep a copy.
        </Notice>
      ) : (
        <p class="hint">
          {matching?.isMore === true
            ? 'This cannot be undone, because there are too many to keep a copy.'
            : 'The console keeps a copy, so that you can undo the deletion for 30 seconds. ' +
              'If the copy is too large, it asks again before it deletes anything.'}
        </p>
      )}
      {mustType && (
        <TextField
          label={`Type ${place.name} to confirm`}
          value={typed}
          onChange={setTyped}
          hasFocus
        />
      )}
      {isBusy && progress > 0 && <p role="status">{formatCount(progress)} deleted</p>}
    </Dialog>
  )
}

function tellOf(place: Place, { count, kept }: Deletion, onDone: () => void): void {
  const text =
    count === undefined
      ? `Emptied ${place.name}.`
      : `Deleted ${formatCount(count)} ${noun(place, count)}.`
  if (kept === undefined || kept.length === 0) {
    showToast({ text })
    return
  }
  const undo = async () => {
    try {
      const restored = await insertDocuments(place, kept)
      showToast({
        text: `Inserted ${formatCount(restored)} ${noun(place, restored)} again.`,
      })
    } catch (error) {
      showToast({ text: messageOf(error), kind: 'error' })
    }
    onDone()
  }
  showToast({ text, action: { label: 'Undo', run: () => void undo() } })
}
