/** Target for a dropped file; a click or a key opens the file dialog. */
import { useRef, useState } from 'preact/hooks'
import { Button } from '../kit/button.tsx'

export function DropZone({
  what,
  onFile,
  isBusy,
}: {
  /** Noun for the created records, such as "documents". */
  readonly what: string
  readonly onFile: (file: File) => void
  readonly isBusy: boolean
}) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0]
    if (file !== undefined) onFile(file)
  }
  return (
    <div
      class={`drop-zone ${isOver ? 'over' : ''}`}
      // The element that contains this one handles the drop.
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={() => setOver(false)}
    >
      <p>
        Drop a file here to import its records as {what}. Formats: JSON lines, JSON and CSV,
        also compressed with gzip.
      </p>
      <Button kind="primary" isBusy={isBusy} onClick={() => input.current!.click()}>
        Choose a file
      </Button>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label="File to import"
        accept=".json,.jsonl,.ndjson,.csv,.tsv,.gz,.txt"
        onChange={(event) => {
          take(event.currentTarget.files)
          // Resets the value. Otherwise no change event would fire when the user edits the file and
          // chooses it again.
          event.currentTarget.value = ''
        }}
      />
    </div>
  )
}
