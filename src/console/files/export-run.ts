/** Writes the results of a query to a file, page by page. */
import { csvCell, writeRow } from '../data/csv-text.ts'
import { printJson } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'

export interface ExportPage {
  readonly documents: readonly JsonObject[]
  /** Page state of the next page; null after the last one. */
  readonly next: string | null
}

export interface ExportOptions {
  readonly fetchPage: (pageState: string | null) => Promise<ExportPage>
  readonly write: (text: string) => Promise<void>
  /** Columns of CSV; undefined for JSON lines. */
  readonly columns: readonly string[] | undefined
  readonly onProgress: (documents: number) => void
  readonly signal: AbortSignal
}

export interface ExportSummary {
  readonly documents: number
  /** Names of fields without a column, with the number of documents that have the field. */
  readonly leftOut: ReadonlyMap<string, number>
}

export async function runExport(options: ExportOptions): Promise<ExportSummary> {
  const { fetchPage, write, columns, onProgress, signal } = options
  const known = new Set(columns)
  const leftOut = new Map<string, number>()
  let documents = 0
  if (columns !== undefined) await write(writeRow(columns))
  for (let pageState: string | null = null; ;) {
    const page = await fetchPage(pageState)
    // Writes the file a page at a time, because one write per document would be slow.
    let text = ''
    for (const document of page.documents) {
      if (columns === undefined) text += `${printJson(document)}\n`
      else {
        text += writeRow(columns.map((name) => csvCell(document.get(name))))
        for (const name of document.keys())
          if (!known.has(name)) leftOut.set(name, (leftOut.get(name) ?? 0) + 1)
      }
    }
    await write(text)
    documents += page.documents.length
    onProgress(documents)
    pageState = page.next
    if (pageState === null || signal.aborted) return { documents, leftOut }
  }
}
