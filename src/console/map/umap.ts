/**
 * UMAP, after McInnes, Healy and Melville (2018): places points on a plane so that neighbours stay
 * close. A graph connects each point with its nearest neighbours. In each round, edges attract
 * their ends, and random pairs of points repel each other. The learning rate falls with each round.
 */
import type { Neighbors } from './nearest-neighbors.ts'

/** Parameters of the curve 1 / (1 + a d^2b) for a minimum distance of 0.1. */
const curveA = 1.577
const curveB = 0.8951
/** Number of random points that repel the start of an edge per update. */
const pushesPerPull = 5
/** Maximum absolute change of a coordinate in one step. */
const stepMax = 4

interface Edges {
  readonly from: Int32Array
  readonly to: Int32Array
  /** Rounds between two updates of an edge: stronger edges are updated more often. */
  readonly period: Float32Array
}

export class Umap {
  /** x and y of each point. */
  readonly positions: Float32Array
  readonly rounds: number
  readonly #edges: Edges
  readonly #next: Float32Array
  readonly #random: () => number
  #round = 0

  /** Copies the start positions and scales them. */
  constructor(neighbors: Neighbors, start: Float32Array, random: () => number) {
    this.positions = spreadOut(start, random)
    const points = start.length / 2
    this.rounds = points > 2000 ? 200 : points > 500 ? 300 : 400
    this.#edges = edgesOf(neighbors, points, this.rounds)
    this.#next = this.#edges.period.slice()
    this.#random = random
  }

  get isDone(): boolean {
    return this.#round >= this.rounds || this.#edges.from.length === 0
  }

  /** Completed share of the rounds, from 0 to 1. */
  get progress(): number {
    return this.isDone ? 1 : this.#round / this.rounds
  }

  /** Executes one round, which updates every edge that is due. */
  step(): void {
    const { from, to, period } = this.#edges
    const { positions } = this
    const points = positions.length / 2
    const rate = 1 - this.#round / this.rounds
    this.#round++
    for (let edge = 0; edge < from.length; edge++) {
      if (this.#next[edge]! > this.#round) continue
      this.#next[edge]! += period[edge]!
      const a = from[edge]!
      pull(positions, a, to[edge]!, rate)
      for (let push = 0; push < pushesPerPull; push++)
        pushAway(positions, a, Math.floor(this.#random() * points), rate)
    }
  }
}

/** Moves both ends of an edge towards each other. */
function pull(positions: Float32Array, a: number, b: number, rate: number): void {
  const dx = positions[2 * a]! - positions[2 * b]!
  const dy = positions[2 * a + 1]! - positions[2 * b + 1]!
  const square = dx * dx + dy * dy
  if (square === 0) return
  const power = square ** (curveB - 1)
  const strength = (-2 * curveA * curveB * power) / (1 + curveA * power * square)
  const moveX = clip(strength * dx) * rate
  const moveY = clip(strength * dy) * rate
  positions[2 * a]! += moveX
  positions[2 * a + 1]! += moveY
  positions[2 * b]! -= moveX
  positions[2 * b + 1]! -= moveY
}

/** Moves point `a` away from point `b`, which does not move. */
function pushAway(positions: Float32Array, a: number, b: number, rate: number): void {
  if (a === b) return
  const dx = positions[2 * a]! - positions[2 * b]!
  const dy = positions[2 * a + 1]! - positions[2 * b + 1]!
  const square = dx * dx + dy * dy
  if (square === 0) return
  const strength = (2 * curveB) / ((0.001 + square) * (1 + curveA * square ** curveB))
  positions[2 * a]! += clip(strength * dx) * rate
  positions[2 * a + 1]! += clip(strength * dy) * rate
}

function clip(step: number): number {
  return Math.max(-stepMax, Math.min(stepMax, step))
}

/**
 * Edges of the fuzzy graph. Two points have one edge, whose weight combines the weights of both
 * directions.
 */
function edgesOf(neighbors: Neighbors, points: number, rounds: number): Edges {
  const { count } = neighbors
  const weights = weightsOf(neighbors, points)
  const joined = new Map<number, number>()
  for (let a = 0; a < points; a++)
    for (let at = a * count; at < (a + 1) * count; at++) {
      const b = neighbors.rows[at]!
      if (b < 0) continue
      const key = Math.min(a, b) * points + Math.max(a, b)
      const other = joined.get(key) ?? 0
      joined.set(key, other + weights[at]! - other * weights[at]!)
    }
  let greatest = 0
  for (const weight of joined.values()) greatest = Math.max(greatest, weight)
  const edges = [...joined].filter(([, weight]) => weight >= greatest / rounds)
  return {
    from: Int32Array.from(edges, ([key]) => Math.floor(key / points)),
    to: Int32Array.from(edges, ([key]) => key % points),
    period: Float32Array.from(edges, ([, weight]) => greatest / weight),
  }
}

/**
 * Membership of each neighbour in the fuzzy set of a point: 1 for the nearest neighbour, decreasing
 * with distance. The bandwidth is chosen so that the sum is log2 of the number of neighbours.
 */
function weightsOf({ count, distances }: Neighbors, points: number): Float32Array {
  const weights = new Float32Array(distances.length)
  const target = Math.log2(Math.max(2, count))
  for (let point = 0; point < points; point++) {
    const own = distances.subarray(point * count, (point + 1) * count)
    const nearest = own.find((distance) => distance > 0) ?? 0
    let [low, high, width] = [0, Infinity, 1]
    for (let round = 0; round < 40; round++) {
      let sum = 0
      for (const distance of own) sum += Math.exp(-Math.max(0, distance - nearest) / width)
      if (Math.abs(sum - target) < 1e-4) break
      if (sum > target) high = width
      else low = width
      width = high === Infinity ? width * 2 : (low + high) / 2
    }
    for (let at = 0; at < count; at++)
      weights[point * count + at] = Math.exp(
        -Math.max(0, own[at]! - nearest) / Math.max(width, 1e-9),
      )
  }
  return weights
}

/**
 * Scales positions to about -10 to 10 and adds noise, so that equal points can separate.
 */
function spreadOut(start: Float32Array, random: () => number): Float32Array {
  let greatest = 0
  for (const value of start) greatest = Math.max(greatest, Math.abs(value))
  const scale = greatest > 0 ? 10 / greatest : 1
  return start.map((value) => value * scale + (random() - 0.5) * 0.01)
}
