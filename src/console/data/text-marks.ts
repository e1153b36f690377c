/** Finds the part of a text to which an error of the server refers. */
import { CommandError } from '../api/command.ts'
import type { Mark } from '../kit/editor-text.ts'

/**
 * The marks for an error of the server. The message quotes the names and values that caused the
 * error. The first of them that occurs in the text is marked.
 */
export function marksOf(error: unknown, text: string): readonly Mark[] {
  if (!(error instanceof CommandError)) return []
  return error.errors.flatMap(({ message }) => {
    for (const [, quoted] of message.matchAll(/"((?:[^"\\]|\\.){1,200})"/g)) {
      const from = text.indexOf(`"${quoted!}"`)
      if (from >= 0) return [{ from, to: from + quoted!.length + 2, message }]
      const last = quoted!.split('.').at(-1)!
      const at = last === quoted ? -1 : text.indexOf(`"${last}"`)
      if (at >= 0) return [{ from: at, to: at + last.length + 2, message }]
    }
    return []
  })
}
