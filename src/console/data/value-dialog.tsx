/** Shows the whole value of a cell that truncates it. */
import { useMemo } from 'preact/hooks'
import { printPretty } from '../json/print-json.ts'
import type { Value } from '../json/value.ts'
import { CopyButton } from '../kit/copy-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { formatMany } from '../kit/format.ts'
import { VirtualList } from '../kit/virtual-list.tsx'

/**
 * Characters after which a line is split into several, because the list needs lines of equal
 * height.
 */
const lineLengthMax = 120

export function ValueDialog({
  name,
  value,
  onClose,
}: {
  readonly name: string
  readonly value: Value
  readonly onClose: () => void
}) {
  const text = useMemo(
    () => (typeof value === 'string' ? value : printPretty(value)),
    [value],
  )
  const lines = useMemo(() => breakLines(text), [text])
  return (
    <Dialog
      title={name}
      size="large"
      onClose={onClose}
      actions={
        <>
          <span class="hint push">{formatMany(text.length, 'character')}</span>
          <CopyButton text={text} kind="normal" />
        </>
      }
    >
      <VirtualList
        class="whole-value"
        count={lines.length}
        lineHeight={20}
        attributes={{ tabIndex: 0, role: 'region', 'aria-label': 'Value' }}
        renderLine={(position) => (
          <div key={position} class="text-line">
            {lines[position]}
          </div>
        )}
      />
    </Dialog>
  )
}

function breakLines(text: string): readonly string[] {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    if (line.length <= lineLengthMax) lines.push(line)
    else
      for (let at = 0; at < line.length; at += lineLengthMax)
        lines.push(line.slice(at, at + lineLengthMax))
  }
  return lines
}
