import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PostingCursor } from '../../../../src/engine/embedded/lexical/cursor.ts'
import { DocumentList } from '../../../../src/engine/embedded/lexical/document-list.ts'
import { Postings } from '../../../../src/engine/embedded/lexical/postings.ts'
import {
  SegmentWriter,
  type PostingRows,
} from '../../../../src/engine/embedded/lexical/segment-writer.ts'
import { TextSegment } from '../../../../src/engine/embedded/lexical/segment.ts'
import { Random, seed } from '../../../model/random.ts'

const documentCount = 30_000

test(`a posting cursor filters documents by its term, seed ${seed}`, () => {
  const random = new Random(seed)
  const rows = new Map<number, Uint8Array>()
  const stored: PostingRows = {
    read: (id) => rows.get(id)!,
    put: (id, bytes) => void rows.set(id, bytes.slice()),
  }
  // The lists are dense, sparse or mixed, so that blocks span ranges of any width. The last list is
  // shorter than a block of 128, and contains only some of the last documents.
  const steps = [1, 2, 3, 10, 40, 400, 9000]
  const shapes = [
    ...steps.map((step) => ({ from: 0, nextStep: () => step })),
    { from: 0, nextStep: () => random.pick(steps) },
    { from: 0, nextStep: () => 1 },
    { from: documentCount - 100, nextStep: () => 3 },
  ]
  const lists = shapes.map(({ from, nextStep }) => {
    const postings = new Postings(0)
    let step = nextStep()
    for (let place = from + random.integer(0, 9); place < documentCount;) {
      postings.push(place, random.integer(1, 20))
      if (random.integer(0, 200) === 0) step = nextStep()
      place += random.integer(1, step)
    }
    return postings
  })
  const lengths = Uint32Array.from({ length: documentCount }, () => random.integer(1, 90))
  const writer = new SegmentWriter(1, stored)
  for (const [i, postings] of lists.entries()) writer.add(i + 1, postings, lengths)
  const documents = writer.finish(DocumentList.of(lengths.keys()), lengths)
  const { size, postings, directory } = writer
  const segment = new TextSegment(
    { id: 1, newest: 1, size, postings, directory, documents, replaced: new Uint8Array(0) },
    stored.read,
  )

  for (const [i, { places, counts, size: listSize }] of lists.entries()) {
    const countOf = new Map<number, number>()
    for (let at = 0; at < listSize; at++) countOf.set(places[at]!, counts[at]!)
    for (const step of [1, 2, 7, 60, 3000]) {
      const cursor = new PostingCursor(segment, segment.list(i + 1)!)
      // Passes up to 128 documents at a time, as a block of another posting list contains.
      for (let place = 0; place < documentCount;) {
        const wanted: number[] = []
        while (place < documentCount && wanted.length < 128) {
          wanted.push(place)
          place += random.integer(1, step)
        }
        const found = {
          places: Uint32Array.from(wanted),
          slots: Uint32Array.from(wanted.keys()),
          size: wanted.length,
        }
        const kept = new Uint32Array(wanted.length)
        cursor.keep(found, kept)
        const expected = wanted.flatMap((one, slot) =>
          countOf.has(one) ? [[one, slot, countOf.get(one)!]] : [],
        )
        const actual = Array.from({ length: found.size }, (_, at) => [
          found.places[at]!,
          found.slots[at]!,
          kept[at]!,
        ])
        assert.deepEqual(actual, expected)
      }
      // The next cursor reuses the arrays of the released cursor, so it must overwrite their old
      // content.
      cursor.release()
    }
  }
})
