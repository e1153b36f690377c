/**
 * A hash table with linear probing from documents to nodes. Documents are numbered sequentially, so
 * their numbers serve as hashes, and the used part of the table stays contiguous.
 */
import { documentOf, Field, field, NIL, places, placesMask, sharedField, shareField } from './layout'

@inline function homeOf(document: f64): u32 {
  return <u32>(<u64>document) & placesMask
}
@inline function placeAt(i: u32): usize {
  return places + (<usize>i << 2)
}

/** The node of a document, or NIL. */
export function findNode(document: f64): u32 {
  while (true) {
    const epoch = sharedField(Field.placesEpoch)
    const found = probe(document)
    // A missing entry may have been moved during the search; if so, search again.
    if (found != NIL || ((epoch & 1) == 0 && epoch == sharedField(Field.placesEpoch)))
      return found
  }
}

function probe(document: f64): u32 {
  let i = homeOf(document)
  // The loop is bounded, because the table may change during a search.
  for (let steps: u32 = 0; steps <= placesMask; steps++) {
    const held = load<u32>(placeAt(i))
    if (held == 0) return NIL
    if (documentOf(held - 1) == document) return held - 1
    i = (i + 1) & placesMask
  }
  return NIL
}

export function addPlace(document: f64, id: u32): void {
  let i = homeOf(document)
  while (load<u32>(placeAt(i)) != 0) i = (i + 1) & placesMask
  atomic.store<u32>(placeAt(i), id + 1)
}

/** Removes a document, and moves later entries into the gap so that they stay reachable. */
export function removePlace(document: f64): void {
  let gap = homeOf(document)
  while (true) {
    const held = load<u32>(placeAt(gap))
    if (held == 0) return
    if (documentOf(held - 1) == document) break
    gap = (gap + 1) & placesMask
  }
  shareField(Field.placesEpoch, field(Field.placesEpoch) + 1)
  let i = gap
  while (true) {
    i = (i + 1) & placesMask
    const held = load<u32>(placeAt(i))
    if (held == 0) break
    const home = homeOf(documentOf(held - 1))
    // An entry can move into the gap unless its home position lies between the gap and the entry.
    if (((i - home) & placesMask) < ((i - gap) & placesMask)) continue
    store<u32>(placeAt(gap), held)
    gap = i
  }
  store<u32>(placeAt(gap), 0)
  shareField(Field.placesEpoch, field(Field.placesEpoch) + 1)
}
