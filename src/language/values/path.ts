/**
 * Paths in a document, such as "address.city" or "tags.0", separated by dots. A dot or ampersand
 * within a name is escaped as "&." or "&&".
 */
export interface Path {
  /** The path as the client wrote it. Equal paths have equal texts. */
  readonly text: string
  readonly segments: readonly string[]
}

/** Parses a path. Returns the problem if the text is not a valid path. */
export function parsePath(text: string): Path | { readonly problem: string } {
  if (text === '') return { problem: 'a path cannot be empty' }
  if (!text.includes('&') && !text.includes('.')) return { text, segments: [text] }
  const segments: string[] = []
  let segment = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (char === '.') {
      if (segment === '') return { problem: 'a path cannot have an empty part' }
      segments.push(segment)
      segment = ''
    } else if (char === '&') {
      const escaped = text[++i]
      if (escaped !== '.' && escaped !== '&')
        return {
          problem:
            'an & must be followed by . or &: "&." is a dot and "&&" an ampersand in a name',
        }
      segment += escaped
    } else segment += char
  }
  if (segment === '') return { problem: 'a path cannot have an empty part' }
  segments.push(segment)
  return { text, segments }
}

/** The reason why no document can have a value at the path; undefined if a document can. */
export function wildcardProblem({ segments }: Path): string | undefined {
  return segments.includes('*')
    ? 'a field cannot be named *, which selects all fields in projections'
    : undefined
}

/** Escapes a field name for use in a path. */
export function escapeSegment(name: string): string {
  if (!name.includes('&') && !name.includes('.')) return name
  return name.replaceAll('&', '&&').replaceAll('.', '&.')
}

/** The array position that the segment represents, or -1. */
export function arrayPosition(segment: string): number {
  return /^(?:0|[1-9]\d{0,8})$/.test(segment) ? Number(segment) : -1
}
