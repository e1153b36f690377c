/** An editor of JSON. What it is made of is loaded with the first one that is shown. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeMirror } from './code-mirror.ts'
import type { EditorProps } from './editor-text.ts'

export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeMirror | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    let isGone = false
    void import('./code-mirror.ts').then(({ CodeMirror }) => {
      if (isGone) return
      editor.current = new CodeMirror(host.current!, () => latest.current)
      setReady(true)
    })
    return () => {
      isGone = true
      editor.current?.destroy()
    }
  }, [])
  useEffect(() => editor.current?.setText(props.value), [props.value, isReady])
  useEffect(() => editor.current?.setMarks(props.marks ?? []), [props.marks, isReady])
  return (
    <div class={`editor ${props.size ?? 'line'} ${isReady ? '' : 'waiting'}`}>
      <div ref={host} class="editor-host" />
      {!isReady && <pre aria-hidden="true">{props.value.slice(0, 2000)}</pre>}
    </div>
  )
}
