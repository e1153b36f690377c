/**
 * Colours the visible JSON by regular expressions. A full grammar would be larger than the
 * rest of the editor.
 */
import { RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate,
} from '@codemirror/view'

const token =
  /"(?:[^"\\\n]|\\.)*"?(\s*:)?|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b(?:true|false|null)\b/g

const name = Decoration.mark({ class: 'json-name' })
const string = Decoration.mark({ class: 'json-string' })
const number = Decoration.mark({ class: 'json-number' })
const word = Decoration.mark({ class: 'json-word' })

/** Maximum characters of a line that are coloured, because a whole document may be on one line. */
const lengthMax = 20_000

class Colours {
  decorations: DecorationSet

  constructor(view: EditorView) {
    this.decorations = colour(view)
  }

  update(update: ViewUpdate): void {
    if (update.docChanged || update.viewportChanged) this.decorations = colour(update.view)
  }
}

function colour(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>()
  for (const { from, to } of view.visibleRanges) {
    const text = view.state.doc.sliceString(from, Math.min(to, from + lengthMax))
    for (const found of text.matchAll(token)) {
      const [whole, colon = ''] = found
      const start = from + found.index
      builder.add(start, start + whole.length - colon.length, markOf(whole, colon))
    }
  }
  return builder.finish()
}

function markOf(text: string, colon: string): Decoration {
  if (text.startsWith('"')) return colon === '' ? string : name
  return /^[-\d]/.test(text) ? number : word
}

export const jsonColours = ViewPlugin.fromClass(Colours, {
  decorations: (colours) => colours.decorations,
})
