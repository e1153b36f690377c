/**
 * Writes a file in pieces. If the browser lets the page write to a file, nothing is buffered.
 * Otherwise the browser holds the parts, and offers them as a download at the end.
 */
export interface FileSink {
  write(text: string): Promise<void>
  /** Saves the file, or starts its download. */
  end(): Promise<void>
  /** Discards the file. */
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

/**
 * Lets the user choose a file to write; undefined when the user cancels. Browsers permit the dialog
 * only in a handler of a user action, such as a click.
 */
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

/** Characters that are collected into one Blob. */
const partLength = 1_000_000

/** A file as a list of Blobs, which the browser may keep on disk. */
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

  /** Starts the download. Each call downloads everything that was written so far. */
  end(): Promise<void> {
    this.#keep()
    const url = URL.createObjectURL(new Blob(this.#parts, { type: this.#contentType }))
    const link = document.createElement('a')
    link.href = url
    link.download = this.#name
    link.click()
    // Keeps the URL valid for a minute, because the browser may still start the download.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
    return Promise.resolve()
  }

  abandon(): Promise<void> {
    this.#parts = []
    this.#text = []
    return Promise.resolve()
  }
}
