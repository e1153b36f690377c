/** JSON editor. CodeMirror is loaded on first use. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeMirror } from './code-mirror.ts'
import type { EditorProps, PlacedMark } from './editor-text.ts'
import { loadModule, useLoad } from './hooks.ts'
import { messageOf } from './notice.tsx'

export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeMirror | undefined>(undefined)
  const latest = useRef(props)
  const [marks, setMarks] = useState<readonly PlacedMark[]>([])
  latest.current = { ...props, onMarks: setMarks }
  const { value: module, error } = useLoad(
    () => loadModule(() => import('./code-mirror.ts')),
    [],
  )
  const isReady = module !== undefined
  useEffect(() => {
    if (module === undefined) return undefined
    const made = new module.CodeMirror(host.current!, () => latest.current)
    editor.current = made
    return () => made.destroy()
  }, [module])
  useEffect(() => editor.current?.setText(props.value), [props.value, isReady])
  useEffect(() => editor.current?.refreshMarks(), [props.marks, isReady])
  const [first] = marks
  return (
    <div class="editor-frame">
      <div class={`editor ${props.size ?? 'line'} ${isReady ? '' : 'waiting'}`}>
        <div ref={host} class="editor-host" />
        {!isReady && <pre aria-hidden="true">{props.value.slice(0, 2000)}</pre>}
      </div>
      <div class="editor-problem" role="status">
        {error !== undefined && messageOf(error)}
        {first !== undefined &&
          `${props.size === 'fill' ? `Line ${first.line}: ` : ''}${first.message}`}
      </div>
    </div>
  )
}
