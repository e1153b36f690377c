/** The first records of a file, unparsed. */
import { DataTable, type Column } from '../kit/data-table.tsx'
import type { SourceRecord } from './source-record.ts'

/** Records that the preview shows. */
const shownMax = 5
const shownColumnsMax = 30
const shownLengthMax = 500

export function FilePreview({
  records,
  columns,
}: {
  readonly records: readonly SourceRecord[]
  readonly columns: readonly string[] | undefined
}) {
  const shown = records.slice(0, shownMax)
  const line: Column<SourceRecord> = {
    title: 'Line',
    isNumber: true,
    render: (record) => record.line,
  }
  const cells =
    columns === undefined
      ? [
          {
            title: 'Record',
            render: (record: SourceRecord) => <Shortened text={record.text} />,
          },
        ]
      : columns.slice(0, shownColumnsMax).map((title, position) => ({
          title,
          render: ({ cells: own = [] }: SourceRecord) => (
            <Shortened text={own[position] ?? ''} />
          ),
        }))
  return (
    <DataTable
      label="First records"
      columns={[line, ...cells]}
      rows={shown}
      keyOf={(record) => String(record.line) + record.text.slice(0, 40)}
    />
  )
}

function Shortened({ text }: { readonly text: string }) {
  const isLong = text.length > shownLengthMax
  return (
    <code class="preview-cell">{isLong ? `${text.slice(0, shownLengthMax)}…` : text}</code>
  )
}
