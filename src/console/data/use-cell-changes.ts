/** Saves values that the user edits in cells, and undoes the latest of these changes. */
import { useRef } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { messageOf } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import { changeCell, reversed, type CellChange } from './change-cell.ts'
import { idText } from './document-id.ts'

/** Maximum number of changes that can be undone, because each keeps its document in memory. */
const undoneMax = 50

export interface CellChanges {
  readonly save: (
    document: JsonObject,
    path: readonly string[],
    before: Value | undefined,
    after: Value,
  ) => Promise<void>
  readonly undo: () => void
}

export function useCellChanges(place: Place, onChange: () => void): CellChanges {
  const made = useRef<readonly CellChange[]>([])
  const undo = async (change: CellChange | undefined) => {
    if (change === undefined || !made.current.includes(change)) return
    made.current = made.current.filter((other) => other !== change)
    const name = change.path.join('.')
    try {
      await changeCell(place, reversed(change))
      showToast({ text: `Restored ${name} of ${idText(place, change.document)}.` })
    } catch (error) {
      showToast({ text: `${name} was not restored. ${messageOf(error)}`, kind: 'error' })
    }
    onChange()
  }
  return {
    save: async (document, path, before, after) => {
      const change = { document, path, before, after }
      await changeCell(place, change)
      made.current = [...made.current, change].slice(-undoneMax)
      onChange()
      showToast({
        text: `Changed ${path.join('.')} of ${idText(place, document)}.`,
        action: { label: 'Undo', run: () => void undo(change) },
      })
    },
    undo: () => void undo(made.current.at(-1)),
  }
}
