/**
 * Files that are written bit by bit. Where the browser lets a page write to a file that the
 * person chose, nothing is kept; elsewhere the browser keeps the parts, and offers them as a
 * download at the end.
 */
export interface FileSink {
  write(text: string): Promise<void>
  /** The file is whole: it is saved, or its download begins. */
  end(): Promise<void>
  /** Nobody wants it. */
  abandon(): Promise<void>
}

interface SavePicker {
  showSaveFilePicker(options: {
    readonly suggestedName: string
  }): Promise<{ createWritable(): Promise<WritableFile> }>
}

interface WritableFile {
  write(text: string): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

/** Undefined: the person chose no file. Must be called by a click. */
export async function openSink(
  name: string,
  contentType: string,
): Promise<FileSink | undefined> {
  if (!('showSaveFilePicker' in window)) return new DownloadSink(name, contentType)
  try {
    const picker = window as unknown as SavePicker
    const handle = await picker.showSaveFilePicker({ suggestedName: name })
    const file = await handle.createWritable()
    return {
      write: (text) => file.write(text),
      end: () => file.close(),
      abandon: () => file.abort(),
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

/** Characters that are collected before the browser is given them to keep. */
const partLength = 1_000_000

/** Parts of a file in the browser's keeping, which may be on disk. */
export class DownloadSink implements FileSink {
  readonly #name: string
  readonly #contentType: string
  #parts: Blob[] = []
  #text: string[] = []
  #length = 0

  constructor(name: string, contentType: string) {
    this.#name = name
    this.#contentType = contentType
  }

  write(text: string): Promise<void> {
    this.#text.push(text)
    this.#length += text.length
    if (this.#length >= partLength) this.#keep()
    return Promise.resolve()
  }

  #keep(): void {
    this.#parts.push(new Blob(this.#text))
    this.#text = []
    this.#length = 0
  }

  /** May be called more than once: each begins a download of what there is. */
  end(): Promise<void> {
    this.#keep()
    const url = URL.createObjectURL(new Blob(this.#parts, { type: this.#contentType }))
    const link = document.createElement('a')
    link.href = url
    link.download = this.#name
    link.click()
    // Not at once: the browser may only be beginning.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
    return Promise.resolve()
  }

  abandon(): Promise<void> {
    this.#parts = []
    this.#text = []
    return Promise.resolve()
  }
}
