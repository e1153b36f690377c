/** Underlines ranges of the text that have errors or warnings. */
import { StateEffect, StateField } from '@codemirror/state'
import { Decoration, EditorView, hoverTooltip, type DecorationSet } from '@codemirror/view'
import type { Mark } from './editor-text.ts'

export const setMarks = StateEffect.define<readonly Mark[]>()

/** The marks of the editor. When the text changes, they move with it until the next check. */
const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, transaction) {
    for (const effect of transaction.effects)
      if (effect.is(setMarks)) return decorate(effect.value, transaction.state.doc.length)
    return before.map(transaction.changes)
  },
  provide: (decorations) => EditorView.decorations.from(decorations),
})

/**
 * Clamps marks to the range of the text, and makes each at least one character long, so that it is
 * visible.
 */
function decorate(marks: readonly Mark[], length: number): DecorationSet {
  const placed = marks.map(({ from, to, message, kind = 'error' }) => {
    const start = Math.max(0, Math.min(from, length - 1))
    const end = Math.max(Math.min(Math.max(to, start + 1), length), start)
    const attributes = { class: `text-mark ${kind}`, 'data-message': message }
    return { start, end, decoration: Decoration.mark({ attributes }) }
  })
  return Decoration.set(
    placed
      .filter(({ start, end }) => end > start)
      .map(({ start, end, decoration }) => decoration.range(start, end)),
    true,
  )
}

const tooltip = hoverTooltip((view, position) => {
  let message: string | undefined
  let end = position
  view.state.field(field).between(position, position, (_, to, { spec }) => {
    const { attributes } = spec as { attributes: Record<string, string> }
    message = attributes['data-message']
    end = to
    return false
  })
  if (message === undefined) return null
  const text = message
  return {
    pos: position,
    end,
    create: () => {
      const dom = document.createElement('div')
      dom.className = 'mark-message'
      dom.textContent = text
      return { dom }
    },
  }
})

export const textMarks = [field, tooltip]
