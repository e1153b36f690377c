import { analyzerFor } from '../../../search/lexical/analyzer.ts'
import type { NewRecord, Write } from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'

/** The same writes of rows, as another view sees them. */
export function recast(writes: readonly Write[], view: RecordView): Write[] {
  const recastRecord = (record: NewRecord): NewRecord => {
    const document = view.indexed(record.text)
    const terms = (path: string) =>
      analyzerFor(view.texts.get(path)!.analyzer).terms(document.get(path) as string)
    return { ...record, document, terms }
  }
  return writes.map((write) => {
    switch (write.kind) {
      case 'insert':
        return { ...write, record: recastRecord(write.record) }
      case 'replace':
        return {
          ...write,
          beforeDocument: view.indexed(write.before.text),
          after: recastRecord(write.after),
        }
      case 'delete':
        return write
    }
  })
}
