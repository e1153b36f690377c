/** Pager below the documents. */
import { Button } from '../kit/button.tsx'
import { SelectField } from '../kit/fields.tsx'
import { formatCount, formatMs } from '../kit/format.ts'
import type { Matching } from './change-documents.ts'
import { matchingText } from './selection-bar.tsx'
import type { Pages } from './use-pages.ts'

const pageSizes = ['20', '40', '100', '200', '1000']

export function PageBar({
  pages,
  pageSize,
  onPageSize,
  total,
}: {
  readonly pages: Pages
  readonly pageSize: number
  readonly onPageSize: (size: number) => void
  /** Number of records on all pages; undefined if it is unknown. */
  readonly total?: Matching | undefined
}) {
  const { page, before, isLoading } = pages
  const count = page?.documents.length ?? 0
  return (
    <div class="page-bar">
      <Button
        icon="back"
        label="Previous page"
        isDisabled={pages.goBack === undefined}
        onClick={() => pages.goBack?.()}
      />
      <Button
        icon="forward"
        label="Next page"
        isDisabled={pages.goForward === undefined}
        onClick={() => pages.goForward?.()}
      />
      <span role="status">
        {isLoading
          ? 'Loading…'
          : count === 0
            ? 'None'
            : `${formatCount(before + 1)}–${formatCount(before + count)}`}
        {!isLoading && total !== undefined && count > 0 && ` of ${matchingText(total)}`}
      </span>
      {isLoading && page !== undefined && (
        <Button class="late" icon="close" onClick={pages.cancel}>
          Cancel
        </Button>
      )}
      <SelectField
        label="Page size"
        value={String(pageSize)}
        choices={pageSizes}
        onChange={(size) => onPageSize(Number(size))}
      />
      {page !== undefined && !isLoading && (
        <span class="quiet-text push">{formatMs(page.elapsedMs)}</span>
      )}
    </div>
  )
}
