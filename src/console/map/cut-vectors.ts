/**
 * Takes vectors out of the text of a reply before it is parsed. Values keep every digit of their
 * numbers, which is right for documents, and far too much for a thousand numbers of each.
 */
export interface CutReply {
  /** In place of each vector stands its number, from 0. */
  readonly text: string
  readonly vectors: readonly Float32Array[]
}

/** `name` is the field that holds them. Within texts its quotes would be escaped. */
export function cutVectors(received: string, name: string): CutReply {
  const vectors: Float32Array[] = []
  const start = `${JSON.stringify(name)}:[`
  const parts: string[] = []
  let from = 0
  for (;;) {
    const at = received.indexOf(start, from)
    const end = at === -1 ? -1 : received.indexOf(']', at)
    if (end === -1) break
    const inside = received.slice(at + start.length, end)
    if (/^[-+.\deE,\s]+$/.test(inside)) {
      parts.push(received.slice(from, at + start.length - 1), String(vectors.length))
      vectors.push(Float32Array.from(inside.split(','), Number))
    } else parts.push(received.slice(from, end + 1))
    from = end + 1
  }
  return { text: parts.join('') + received.slice(from), vectors }
}
