/** Actions on the selected documents, above the grid. */
import type { Place } from '../api/place.ts'
import { Button } from '../kit/button.tsx'
import { formatCount } from '../kit/format.ts'
import type { Matching } from './change-documents.ts'
import type { CopyFormat } from './copy-documents.ts'
import { noun } from './document-id.ts'

export interface SelectionBarProps {
  readonly place: Place
  /** Number of selected documents on this page. */
  readonly count: number
  /** Whether all documents of the page are selected. */
  readonly isPage: boolean
  /** Whether all matches are selected, on this page and on the others. */
  readonly isEverything: boolean
  /** The number of matches, if it is known and exceeds the page. */
  readonly matching: Matching | undefined
  /** Selects all matches; undefined if they cannot be changed together. */
  readonly onEverything: (() => void) | undefined
  readonly onCopy: (format: CopyFormat) => void
  readonly onUpdate: (() => void) | undefined
  readonly onDelete: () => void
  readonly onClear: () => void
}

export function SelectionBar(props: SelectionBarProps) {
  const { place, count, isPage, isEverything, matching, onEverything } = props
  const total = matching === undefined ? '' : `${matchingText(matching)} `
  return (
    <div class="selection-bar" role="group" aria-label="Selection">
      <span role="status">
        {isEverything
          ? `All ${total}${noun(place, 2)} that match are selected.`
          : `${formatCount(count)} selected${isPage ? ', all of this page' : ''}.`}
      </span>
      {isPage && !isEverything && onEverything !== undefined && (
        <Button kind="quiet" onClick={onEverything}>
          Select all {total}that match
        </Button>
      )}
      <Button kind="quiet" onClick={props.onClear}>
        Clear selection
      </Button>
      <span class="push" />
      {!isEverything && (
        <>
          <Button icon="copy" onClick={() => props.onCopy('JSON')}>
            Copy JSON
          </Button>
          <Button icon="copy" onClick={() => props.onCopy('CSV')}>
            Copy CSV
          </Button>
        </>
      )}
      {props.onUpdate !== undefined && (
        <Button icon="edit" onClick={props.onUpdate}>
          {isEverything ? 'Update all that match' : `Update ${formatCount(count)} selected`}
        </Button>
      )}
      <Button kind="danger" icon="delete" onClick={props.onDelete}>
        {isEverything ? 'Delete all that match' : `Delete ${formatCount(count)} selected`}
      </Button>
    </div>
  )
}

export function matchingText({ count, isMore }: Matching): string {
  return `${isMore ? 'more than ' : ''}${formatCount(count)}`
}
