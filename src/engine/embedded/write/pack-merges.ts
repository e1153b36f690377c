/**
 * Packs merges of rows for the writer thread. Each merge is packed both as the row that it creates,
 * since most rows are new, and as the merge itself, for existing rows.
 */
import type { Column } from '../../../language/columns/column.ts'
import { analyzerFor } from '../../../search/lexical/analyzer.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { RowMerge } from '../../contract.ts'
import { BatchPacker } from './batch-packer.ts'
import type { Operation, TextChange, VectorChange, WriteBatch } from './write-batch.ts'
import { hasValues, mergedRow, storedMerge, type StoredMerge } from '../format/merge-row.ts'
import { rowText } from '../format/row-text.ts'
import type { RowView } from '../format/row-view.ts'

export function* packMerges(
  merges: readonly RowMerge[],
  view: RowView,
  { ordered, sizeMax }: { readonly ordered: boolean; readonly sizeMax: number },
): Steps<WriteBatch> {
  const packer = new BatchPacker()
  const operations: Operation[] = []
  const stored: StoredMerge[] = []
  for (const given of merges) {
    const merge = storedMerge(given, view)
    const row = yield* mergedRow(undefined, merge, view)
    const vectors = vectorChanges(given, view)
    const isMade = merge.isInsert || hasValues(row, view) || hasVectors(given, view)
    const { list } = packer
    const start = list.entries.length
    if (isMade) {
      const rest = list.addDocumentInSteps(yield* view.indexedRow(row.values))
      if (rest !== undefined) yield* rest
    }
    operations.push({
      kind: 'merge',
      version: 0,
      seq: 0,
      text: isMade ? yield* rowText(row, view) : '',
      ...packer.addId(view.idOfRow(row.values)),
      search: undefined,
      textTerms: null,
      vectors,
      texts: textChanges(given, view, packer),
      ...packer.addEntries([], list.entries.slice(start)),
    })
    stored.push(merge)
    yield
  }
  const batch = yield* packer.pack(operations, ordered)
  return { ...batch, merges: { each: stored, sizeMax } }
}

/** Whether the merge sets a vector outside the key. Vectors of key columns do not create a row. */
function hasVectors({ values }: RowMerge, view: RowView): boolean {
  for (const [column, value] of values)
    if (value !== undefined && view.isBeside(column)) return true
  return false
}

function vectorChanges({ values }: RowMerge, view: RowView): VectorChange[] {
  const changes: VectorChange[] = []
  for (const [column, value] of values) {
    if (column.type.type !== 'vector') continue
    const { suffix, metric } = view.vectors.get(view.path(column).text)!
    const bytes =
      value === undefined ? null : new Uint8Array((value as Float32Array).slice().buffer)
    changes.push({ suffix, isIndexed: metric !== undefined, bytes })
  }
  return changes
}

/**
 * Changes of the texts that have an index, including an index that is still being built, which the
 * caller may not know.
 */
function textChanges(
  { values, terms }: RowMerge,
  view: RowView,
  packer: BatchPacker,
): TextChange[] {
  const changes: TextChange[] = []
  for (const [column, value] of values) {
    const field = view.texts.get(view.path(column).text)
    if (field === undefined) continue
    const made =
      typeof value === 'string' && value !== ''
        ? packer.addTerms(terms?.(column) ?? analyzed(column, value, view))
        : null
    changes.push({ suffix: field.suffix, terms: made })
  }
  return changes
}

function analyzed(column: Column, text: string, view: RowView): readonly string[] {
  return analyzerFor(view.texts.get(view.path(column).text)!.analyzer).terms(text)
}
