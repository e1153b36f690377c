/**
 * CodeMirror, configured for JSON.
 *
 * The editor is in a shadow root, where it passes its styles to the browser as constructed style
 * sheets. Elsewhere it would insert a style element, which the page's content security policy
 * forbids.
 */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  completionStatus,
  startCompletion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { bracketMatching, indentService } from '@codemirror/language'
import { EditorState, Prec, type Extension } from '@codemirror/state'
import {
  drawSelection,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { EditorView } from 'codemirror'
import { readTree } from '../json/json-tree.ts'
import type { EditorProps, Mark } from './editor-text.ts'
import { jsonColours } from './json-colours.ts'
import { setMarks, textMarks } from './text-marks.ts'

/**
 * Maximum length of a text that is coloured and checked. In a longer text, the checks would delay
 * typing.
 */
const checkedLengthMax = 1_000_000

const checkDelayMs = 500

/** Maximum number of reported texts that the page has not passed back yet. */
const typedMax = 50

export class CodeMirror {
  readonly #view: EditorView
  readonly #props: () => EditorProps
  /** Texts that the editor reported to the page and that the page has not passed back yet. */
  readonly #typed: string[] = []
  #isSetting = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(host: HTMLElement, props: () => EditorProps) {
    this.#props = props
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    this.#view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({ doc: props().value, extensions: this.#extensions() }),
    })
    if (props().hasFocus === true) this.#view.focus()
  }

  /**
   * Sets the text from the properties of the page. The page passes every reported text back. A text
   * that was passed back may be older than the editor's current text, and must not overwrite it.
   */
  setText(text: string): void {
    const known = this.#typed.indexOf(text)
    if (known >= 0) {
      this.#typed.splice(0, known + 1)
      return
    }
    const { doc } = this.#view.state
    if (doc.length === text.length && doc.toString() === text) return
    this.#typed.length = 0
    this.#isSetting = true
    this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text } })
    this.#isSetting = false
  }

  #tell(text: string): void {
    if (this.#isSetting) return
    this.#typed.push(text)
    if (this.#typed.length > typedMax) this.#typed.shift()
    this.#props().onChange?.(text)
  }

  /** Repeats the checks after the errors of the server have changed. */
  refreshMarks(): void {
    this.#check()
  }

  destroy(): void {
    clearTimeout(this.#timer)
    this.#view.destroy()
  }

  #extensions(): Extension[] {
    const { label, isReadOnly = false, size = 'line', ...props } = this.#props()
    return [
      size === 'fill' ? lineNumbers() : [],
      history(),
      drawSelection(),
      jsonIndent,
      bracketMatching(),
      closeBrackets(),
      jsonColours,
      EditorView.lineWrapping,
      isReadOnly || size === 'line' ? [] : highlightActiveLine(),
      theme,
      EditorState.readOnly.of(isReadOnly),
      EditorState.tabSize.of(2),
      EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true' }),
      placeholder(props.placeholder ?? ''),
      isReadOnly ? [] : [this.#completion(), textMarks],
      Prec.highest(
        keymap.of([
          { key: 'Mod-Enter', run: () => this.#submit() },
          {
            key: 'Enter',
            run: (view) =>
              this.#props().isSingleLine === true &&
              completionStatus(view.state) !== 'active' &&
              this.#submit(),
          },
          // The Tab key leaves the editor, unless it accepts a proposal.
          {
            key: 'Tab',
            run: (view) =>
              completionStatus(view.state) === 'active' && acceptCompletion(view),
          },
        ]),
      ),
      keymap.of([
        ...closeBracketsKeymap,
        ...standardKeymap,
        ...historyKeymap,
        ...completionKeymap,
        { key: 'Ctrl-i', run: startCompletion },
      ]),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return
        this.#tell(update.state.doc.toString())
        this.#checkSoon()
      }),
    ]
  }

  #submit(): boolean {
    const { onSubmit } = this.#props()
    onSubmit?.()
    return onSubmit !== undefined
  }

  #completion(): Extension {
    return autocompletion({
      override: [(context) => this.#propose(context)],
      icons: false,
      activateOnTyping: true,
    })
  }

  #propose(context: CompletionContext): CompletionResult | null {
    const { complete } = this.#props()
    const { doc } = context.state
    if (complete === undefined || doc.length > checkedLengthMax) return null
    const proposals = complete(doc.toString(), context.pos)
    if (proposals === undefined || proposals.options.length === 0) return null
    const { from, to = context.pos, options } = proposals
    return {
      from,
      to,
      filter: false,
      // The update has to be synchronous. After an asynchronous update, the list ignores clicks
      // until the proposals are computed again.
      update: (_result, _from, _to, later) => this.#propose(later),
      options: options.map(({ label, insert, detail, kind }) => ({
        label,
        ...(insert === undefined ? {} : { apply: insert }),
        ...(detail === undefined ? {} : { detail }),
        ...(kind === undefined ? {} : { type: kind }),
      })),
    }
  }

  /** Runs the checks after a pause in typing. */
  #checkSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // The text is unfinished while the list of proposals is open, so the check is delayed again.
      if (completionStatus(this.#view.state) === 'active') this.#checkSoon()
      else this.#check()
    }, checkDelayMs)
  }

  #check(): void {
    const { check, marks = [], isReadOnly, onMarks } = this.#props()
    const { doc } = this.#view.state
    if (isReadOnly === true || doc.length > checkedLengthMax) return
    const text = doc.toString()
    const mistakes = text.trim() === '' ? [] : readTree(text).mistakes
    const found = mistakes.length > 0 ? mistakes : [...(check?.(text) ?? []), ...marks]
    this.#view.dispatch({ effects: setMarks.of(found) })
    onMarks?.(
      found.map((mark) => ({
        ...mark,
        line: doc.lineAt(placeIn(doc.length, mark)).number,
      })),
    )
  }
}

function placeIn(length: number, { from }: Mark): number {
  return Math.max(0, Math.min(from, length))
}

/**
 * A new line has the indentation of the previous line, plus one step after an opening bracket.
 */
const jsonIndent = indentService.of((context, position) => {
  const before = context.state.doc.lineAt(Math.max(0, position - 1)).text
  const text = position > 0 ? before : ''
  const indent = /^ */.exec(text)![0].length
  return /[[{]\s*$/.test(text) ? indent + 2 : indent
})

/** Colours are CSS variables of the page, which shadow roots inherit. */
const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--monospaced)', fontSize: '13px', lineHeight: '20px' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'transparent',
    color: 'var(--text-quiet)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-placeholder': { color: 'var(--text-quiet)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--selection)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--monospaced)',
    fontSize: '13px',
    maxHeight: '16em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--accent-text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': {
    color: 'var(--accent-text)',
  },
  '.cm-completionDetail': { color: 'var(--text-quiet)', fontStyle: 'normal' },
  '.mark-message': { padding: '4px 8px', fontFamily: 'var(--font)', maxWidth: '480px' },
  '.text-mark.error': {
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.text-mark.warning': {
    textDecoration: 'underline wavy var(--warn)',
    textUnderlineOffset: '3px',
  },
  '.json-name': { color: 'var(--json-name)' },
  '.json-string': { color: 'var(--json-string)' },
  '.json-number': { color: 'var(--json-number)' },
  '.json-word': { color: 'var(--json-word)' },
})
