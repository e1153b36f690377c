import { foldToAscii } from '../../search/lexical/filters/ascii-folding.ts'
import type { TextFolding } from './column-type.ts'

/** Folds a text: texts that the index treats as equal have the same result. */
export function foldText(text: string, folding: TextFolding): string {
  let folded = text
  if (folding.normalize) folded = folded.normalize('NFC')
  if (!folding.caseSensitive) folded = folded.toLowerCase()
  return folding.ascii ? foldToAscii(folded) : folded
}
