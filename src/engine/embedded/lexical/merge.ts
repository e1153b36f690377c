/** Merges consecutive segments into one, in steps. */
import { DocumentList } from './document-list.ts'
import { Postings } from './postings.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { viewsOf } from './segment-view.ts'
import type { TermEntry } from './segment-layout.ts'
import type { List, TextSegment } from './segment.ts'

export class SegmentMerge {
  readonly target: SegmentWriter
  readonly sources: readonly TextSegment[]
  /** The last merged term. */
  progress: number
  /** Terms that no document of the merged segment has. */
  readonly unused: number[] = []
  readonly documents: DocumentList
  readonly lengths: Uint32Array
  /** Documents whose postings in earlier segments are void. */
  readonly replaced: readonly number[]
  /** New place of each document of a source; `gone` for replaced documents. */
  readonly #places: readonly Uint32Array[]
  readonly #heads: Head[]

  /**
   * `sources` come oldest first. Terms up to and including `progress` are in the target already.
   */
  constructor(
    sources: readonly TextSegment[],
    target: SegmentWriter,
    { isOldest, progress }: { readonly isOldest: boolean; readonly progress: number },
  ) {
    this.sources = sources
    this.target = target
    this.progress = progress
    const { seqs, lengths, places } = placeDocuments(sources)
    this.documents = DocumentList.of(seqs)
    this.lengths = lengths
    this.#places = places
    const all = isOldest ? [] : sources.flatMap(({ replaced }) => Array.from(replaced))
    this.replaced = [...new Set(all)].sort((a, b) => a - b)
    this.#heads = sources.map((segment) => headOf(segment, progress))
  }

  /** Merges about `postingsMax` postings; returns their number, or undefined at the end. */
  step(postingsMax: number): number | undefined {
    let done = 0
    while (done < postingsMax) {
      const term = this.#heads.reduce((least, head) => Math.min(least, head.term), Infinity)
      if (term === Infinity) return undefined
      done += this.#mergeTerm(term)
      this.progress = term
    }
    this.target.flush()
    return done
  }

  #mergeTerm(term: number): number {
    merged.size = 0
    let read = 0
    let isAscending = true
    for (const [i, head] of this.#heads.entries()) {
      if (head.term !== term) continue
      const { segment, list } = head
      current.size = 0
      segment.decode(list!, current)
      read += current.size
      const places = this.#places[i]!
      for (let j = 0; j < current.size; j++) {
        const place = places[current.places[j]!]!
        if (place === gone) continue
        if (merged.size > 0 && merged.places[merged.size - 1]! > place) isAscending = false
        merged.push(place, current.counts[j]!)
      }
      head.advance()
    }
    if (!isAscending) sort(merged)
    if (merged.size > 0) this.target.add(term, merged, this.lengths)
    else this.unused.push(term)
    return read + termCost
  }
}

/** The next term of a source. */
interface Head {
  readonly segment: TextSegment
  term: number
  list: List | undefined
  advance(): void
}

function headOf(segment: TextSegment, after: number): Head {
  const entries: Iterator<{ entry: TermEntry; list: List }> = segment.entries(after)
  const head: Head = {
    segment,
    term: Infinity,
    list: undefined,
    advance() {
      const next = entries.next()
      head.term = next.done === true ? Infinity : next.value.entry.term
      head.list = next.done === true ? undefined : next.value.list
    },
  }
  head.advance()
  return head
}

/** Assigns places in the merged segment to the documents of all sources. */
function placeDocuments(sources: readonly TextSegment[]) {
  const views = viewsOf(sources)
  const places = sources.map(({ documents }) => new Uint32Array(documents.size))
  const lengthsOf = sources.map((segment) => segment.allLengths())
  const total = sources.reduce((sum, { documents }) => sum + documents.size, 0)
  const lengths = new Uint32Array(total)
  const seqs: number[] = []
  const seqsOf = sources.map(({ documents }) => documents.toArray())
  const at = sources.map(() => 0)
  for (;;) {
    let least = -1
    let seq = Infinity
    for (let i = 0; i < sources.length; i++) {
      const own = seqsOf[i]![at[i]!] ?? Infinity
      if (own < seq) {
        seq = own
        least = i
      }
    }
    if (least < 0) break
    const place = at[least]!++
    if (views[least]!.seqAt(place) === undefined) places[least]![place] = gone
    else {
      places[least]![place] = seqs.length
      lengths[seqs.length] = lengthsOf[least]![place]!
      seqs.push(seq)
    }
  }
  return { seqs, lengths: lengths.slice(0, seqs.length), places }
}

function sort(postings: Postings): void {
  const { places, counts, size } = postings
  const order = Uint32Array.from({ length: size }, (_, i) => i)
  order.sort((a, b) => places[a]! - places[b]!)
  const sortedPlaces = Uint32Array.from(order, (i) => places[i]!)
  const sortedCounts = Uint32Array.from(order, (i) => counts[i]!)
  places.set(sortedPlaces)
  counts.set(sortedCounts)
}

/** Cost of a term in addition to its postings, in postings. */
const termCost = 32

/** Marks documents without a place in the merged segment. */
const gone = 2 ** 32 - 1

/** Postings of the current term: of one source, and merged. */
const current = new Postings(4096)
const merged = new Postings(4096)
