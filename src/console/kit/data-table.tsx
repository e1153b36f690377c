/** A plain table for short lists; it renders all rows. */
import type { ComponentChildren } from 'preact'

export interface Column<T> {
  readonly title: string
  readonly render: (row: T) => ComponentChildren
  /** Whether the cells are aligned to the right, such as numbers and buttons. */
  readonly isNumber?: boolean
  readonly isTitleHidden?: boolean
}

export function DataTable<T>({
  label,
  columns,
  rows,
  keyOf,
}: {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table class="data-table">
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isTitleHidden }) => (
              <th key={title} scope="col" class={isNumber === true ? 'number' : undefined}>
                <span class={isTitleHidden === true ? 'unseen' : undefined}>{title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, render, isNumber }) => (
                <td key={title} class={isNumber === true ? 'number' : undefined}>
                  {render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
