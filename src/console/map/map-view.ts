/** Converts between map and screen coordinates, and computes pan and zoom. */

/**
 * A point at `x` of the map is at `x * scale + left` of the screen. The y axis points up on the map
 * and down on the screen.
 */
export interface MapView {
  readonly scale: number
  readonly left: number
  readonly top: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

const margin = 24
/** Pixels reserved for the buttons at the top. */
const marginTop = 56

/** A view that shows all points, centred. */
export function fitView(positions: Float32Array, { width, height }: Size): MapView {
  let [minX, maxX, minY, maxY] = [Infinity, -Infinity, Infinity, -Infinity]
  for (let at = 0; at < positions.length; at += 2) {
    minX = Math.min(minX, positions[at]!)
    maxX = Math.max(maxX, positions[at]!)
    minY = Math.min(minY, positions[at + 1]!)
    maxY = Math.max(maxY, positions[at + 1]!)
  }
  if (positions.length === 0) return { scale: 1, left: width / 2, top: height / 2 }
  const [wide, high] = [maxX - minX, maxY - minY]
  const fits = [
    ...(wide > 0 ? [(width - 2 * margin) / wide] : []),
    ...(high > 0 ? [(height - margin - marginTop) / high] : []),
  ]
  const scale = Math.max(1e-30, Math.min(...fits, 1e30))
  const isPoint = fits.length === 0
  const used = isPoint ? 1 : scale
  return {
    scale: used,
    left: width / 2 - ((minX + maxX) / 2) * used,
    top: (height - margin + marginTop) / 2 + ((minY + maxY) / 2) * used,
  }
}

export function screenX({ scale, left }: MapView, x: number): number {
  return x * scale + left
}

export function screenY({ scale, top }: MapView, y: number): number {
  return top - y * scale
}

/** The view, zoomed around a position of the screen. */
export function zoomAt(view: MapView, factor: number, x: number, y: number): MapView {
  return {
    scale: view.scale * factor,
    left: x - (x - view.left) * factor,
    top: y - (y - view.top) * factor,
  }
}

export function panBy(view: MapView, x: number, y: number): MapView {
  return { ...view, left: view.left + x, top: view.top + y }
}

/** The nearest point within `reach` of a screen position. */
export function pointAt(
  positions: Float32Array,
  view: MapView,
  x: number,
  y: number,
  reach: number,
): number | undefined {
  let nearest: number | undefined
  let least = reach * reach
  for (let at = 0; at < positions.length; at += 2) {
    const dx = screenX(view, positions[at]!) - x
    const dy = screenY(view, positions[at + 1]!) - y
    const square = dx * dx + dy * dy
    if (square > least) continue
    least = square
    nearest = at / 2
  }
  return nearest
}

export interface ScreenPoint {
  readonly x: number
  readonly y: number
}

/** The points inside an outline on the screen. */
export function pointsInside(
  positions: Float32Array,
  view: MapView,
  outline: readonly ScreenPoint[],
): number[] {
  const inside: number[] = []
  for (let at = 0; at < positions.length; at += 2) {
    const x = screenX(view, positions[at]!)
    const y = screenY(view, positions[at + 1]!)
    if (isInside(outline, x, y)) inside.push(at / 2)
  }
  return inside
}

/**
 * Whether a point is inside the outline, by the even-odd rule: a ray from the point to the
 * right crosses the outline an odd number of times.
 */
function isInside(outline: readonly ScreenPoint[], x: number, y: number): boolean {
  let isOdd = false
  let before = outline.at(-1)
  for (const corner of outline) {
    const from = before!
    if (corner.y > y !== from.y > y) {
      const crossing =
        ((from.x - corner.x) * (y - corner.y)) / (from.y - corner.y) + corner.x
      if (x < crossing) isOdd = !isOdd
    }
    before = corner
  }
  return isOdd
}
