/** Chooses the visible columns. */
import { useState } from 'preact/hooks'
import { cutName } from '../json/value-text.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { CheckField, TextField } from '../kit/fields.tsx'
import { VirtualList } from '../kit/virtual-list.tsx'

export function ColumnDialog({
  names,
  hidden,
  onChange,
  onClose,
}: {
  readonly names: readonly string[]
  readonly hidden: ReadonlySet<string>
  readonly onChange: (hidden: ReadonlySet<string>) => void
  readonly onClose: () => void
}) {
  const [wanted, setWanted] = useState('')
  const listed = names.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()))
  const show = (name: string, isShown: boolean) => {
    const changed = new Set(hidden)
    if (isShown) changed.delete(name)
    else changed.add(name)
    onChange(changed)
  }
  return (
    <Dialog
      title="Columns"
      size="small"
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => onChange(new Set())}>Show all</Button>
          <Button onClick={() => onChange(new Set(names.slice(1)))}>
            Hide all but the first
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <TextField label="Find a column" type="search" value={wanted} onChange={setWanted} />
      <VirtualList
        class="column-list"
        count={listed.length}
        lineHeight={28}
        attributes={{ role: 'group', 'aria-label': 'Columns' }}
        renderLine={(position) => {
          const name = listed[position]!
          return (
            <div key={name} class="column-choice">
              <CheckField
                label={cutName(name)}
                value={!hidden.has(name)}
                onChange={(isShown) => show(name, isShown)}
              />
            </div>
          )
        }}
      />
    </Dialog>
  )
}
