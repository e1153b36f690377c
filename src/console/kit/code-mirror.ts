/**
 * CodeMirror, set up for JSON.
 *
 * It lives in a shadow root. There it hands its styles to the browser as sheets; elsewhere it
 * would write a style element, which the page's policy forbids.
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
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { linter, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { EditorState, Prec, type Extension } from '@codemirror/state'
import {
  drawSelection,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { EditorView } from 'codemirror'
import { readTree } from '../json/json-tree.ts'
import type { EditorProps, Mark } from './editor-text.ts'

/** Beyond this, colouring and checking each change would be felt. */
const checkedLengthMax = 1_000_000

/** Keys that are pressed before the page is drawn again. */
const typedMax = 50

export class CodeMirror {
  readonly #view: EditorView
  readonly #props: () => EditorProps
  /** Texts that the page was told of, and has not given back. */
  readonly #typed: string[] = []
  #isSetting = false

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
   * What was typed comes back by the page, and may be older than what has been typed since:
   * then it is no news.
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

  setMarks(marks: readonly Mark[]): void {
    const diagnostics = marks.map((mark) => this.#diagnostic(mark))
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics))
  }

  destroy(): void {
    this.#view.destroy()
  }

  #extensions(): Extension[] {
    const { label, isReadOnly = false, size = 'line', ...props } = this.#props()
    const isLong = this.#props().value.length > checkedLengthMax
    return [
      size === 'fill' ? [lineNumbers(), foldGutter()] : [],
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      isLong ? [] : [json(), syntaxHighlighting(colours)],
      EditorView.lineWrapping,
      isReadOnly || size === 'line' ? [] : highlightActiveLine(),
      theme,
      EditorState.readOnly.of(isReadOnly),
      EditorState.tabSize.of(2),
      EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true' }),
      placeholder(props.placeholder ?? ''),
      isReadOnly
        ? []
        : [this.#completion(), linter((view) => this.#check(view), { delay: 300 })],
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
          // The Tab key leaves the editor, unless a proposal is there to be taken.
          {
            key: 'Tab',
            run: (view) =>
              completionStatus(view.state) === 'active' && acceptCompletion(view),
          },
        ]),
      ),
      keymap.of([
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...completionKeymap,
        { key: 'Ctrl-i', run: startCompletion },
        { ...indentWithTab, key: 'Alt-Tab' },
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.#tell(update.state.doc.toString())
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
      options: options.map(({ label, insert, detail, kind }) => ({
        label,
        ...(insert === undefined ? {} : { apply: insert }),
        ...(detail === undefined ? {} : { detail }),
        ...(kind === undefined ? {} : { type: kind }),
      })),
    }
  }

  #check(view: EditorView): readonly Diagnostic[] {
    const { check, marks = [] } = this.#props()
    const { doc } = view.state
    if (doc.length > checkedLengthMax) return []
    const text = doc.toString()
    const mistakes = text.trim() === '' ? [] : readTree(text).mistakes
    const found = mistakes.length > 0 ? mistakes : [...(check?.(text) ?? []), ...marks]
    return found.map((mark) => this.#diagnostic(mark))
  }

  /** A mark that can be seen: within the text, and at least one character long. */
  #diagnostic({ from, to, message, kind = 'error' }: Mark): Diagnostic {
    const { length } = this.#view.state.doc
    const start = Math.max(0, Math.min(from, length - 1))
    const end = Math.min(Math.max(to, start + 1), length)
    return { from: start, to: Math.max(start, end), message, severity: kind }
  }
}

/** Colours are those of the page, which shine through into the shadow root. */
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-name)' },
  { tag: tags.string, color: 'var(--json-string)' },
  { tag: tags.number, color: 'var(--json-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--json-word)' },
])

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
  '.cm-diagnostic': { padding: '4px 8px', fontFamily: 'var(--font)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--hover)',
    color: 'var(--text-quiet)',
    border: 'none',
    padding: '0 4px',
  },
})
