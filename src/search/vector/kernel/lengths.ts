/**
 * Inner products alone produce a poor graph: long vectors are close to everything and short ones to
 * nothing, so no node would link to short ones. During construction, an additional dimension lifts
 * short vectors to the length of longer ones. Queries are 0 in that dimension, so their products do
 * not change.
 */
import { DOT_PRODUCT, Field, field, metric, setField } from './layout'

/** Whether distances are computed for the links of a node. */
export let isBuilding = false

export function setBuilding(building: bool): void {
  isBuilding = building
}

/** The additional dimension of a vector of this squared length. */
@inline export function lift(squaredLength: f64): f32 {
  return <f32>sqrt(max<f64>(0, <f64>reinterpret<f32>(field(Field.liftedLength)) - squaredLength))
}

/**
 * Squared length that vectors are lifted to, in standard deviations above the mean. Without
 * lifting, filtered walks miss many results when lengths differ. When lifted to the maximum, all
 * vectors look alike and walks lose direction.
 */
const SPREADS: f32 = 1

/** Updates the statistics of lengths with the squared length of a new vector. */
export function noteLength(squaredLength: f64): void {
  if (metric != DOT_PRODUCT) return
  const length = <f32>squaredLength
  const mean = reinterpret<f32>(field(Field.lengthMean))
  const spread = reinterpret<f32>(field(Field.lengthSpread))
  const weight = <f32>1 / <f32>min<u32>(field(Field.live) + 1, 1000)
  const off = length - mean
  setField(Field.lengthMean, reinterpret<u32>(mean + off * weight))
  setField(Field.lengthSpread, reinterpret<u32>(spread + (off * off - spread) * weight))
  setField(Field.liftedLength, reinterpret<u32>(mean + SPREADS * <f32>sqrt(spread)))
}
