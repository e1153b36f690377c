/** Shows the command as code in other languages. */
import { useState } from 'preact/hooks'
import { serverRoot } from '../api/send.ts'
import type { Place } from '../api/place.ts'
import { codeLanguages } from '../code/write-code.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Segments } from '../kit/tabs.tsx'

type Language = (typeof codeLanguages)[number]['id']

export function CodeDialog({
  place,
  command,
  body,
  onClose,
}: {
  readonly place: Place
  readonly command: string
  /** The command's fields, as JSON. */
  readonly body: string
  readonly onClose: () => void
}) {
  const [id, setId] = useState<Language>('curl')
  const language = codeLanguages.find((entry) => entry.id === id)!
  const { database, keyspace, name, kind } = place
  const path = database === '' ? '' : `databases/${encodeURIComponent(database)}`
  const text = language.write({
    url: new URL(path, serverRoot).href.replace(/\/$/, ''),
    keyspace,
    target: name,
    kind,
    command,
    body,
  })
  return (
    <Dialog title="As code" size="large" onClose={onClose}>
      <Segments<Language>
        label="Language"
        value={id}
        onChange={setId}
        options={codeLanguages.map((entry) => ({ value: entry.id, label: entry.name }))}
      />
      <p class="hint">{language.needs}</p>
      <CodeBlock label={language.name} text={text} />
    </Dialog>
  )
}
