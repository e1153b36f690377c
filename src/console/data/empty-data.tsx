/** Shown in place of the grid when there are no documents or rows. */
import type { Place } from '../api/place.ts'
import { Button } from '../kit/button.tsx'
import { EmptyState } from '../kit/notice.tsx'
import { noun } from './document-id.ts'

export function EmptyData({
  place,
  isFiltered,
  onInsert,
}: {
  readonly place: Place
  readonly isFiltered: boolean
  readonly onInsert: (() => void) | undefined
}) {
  if (isFiltered)
    return (
      <EmptyState title={`No ${noun(place, 2)} match`}>
        Change the filter, or clear it to see all.
      </EmptyState>
    )
  return (
    <EmptyState
      title={`${place.name} is empty`}
      actions={
        onInsert !== undefined && (
          <Button kind="primary" icon="add" onClick={onInsert}>
            Insert {noun(place, 2)}
          </Button>
        )
      }
    >
      {onInsert !== undefined &&
        'Insert data here, import a file on the Files page, or send data from a program.'}
    </EmptyState>
  )
}
