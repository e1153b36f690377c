/** Draws points on a canvas at the resolution of the screen. */
import type { Coloring } from './map-colors.ts'
import { screenX, screenY, type MapView, type ScreenPoint, type Size } from './map-view.ts'

export interface MapScene {
  readonly positions: Float32Array
  readonly coloring: Coloring
  readonly selected: ReadonlySet<number>
  readonly pointed: number | undefined
  readonly view: MapView
  /** The outline of the lasso while the user draws it. */
  readonly outline: readonly ScreenPoint[]
}

export function drawMap(canvas: HTMLCanvasElement, size: Size, scene: MapScene): void {
  const { width, height } = size
  const sharpness = devicePixelRatio
  const [wide, high] = [Math.round(width * sharpness), Math.round(height * sharpness)]
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide
    canvas.height = high
  }
  const pen = canvas.getContext('2d')
  if (pen === null) return
  pen.setTransform(sharpness, 0, 0, sharpness, 0, 0)
  pen.clearRect(0, 0, width, height)
  drawPoints(pen, size, scene)
  // The computed style contains the colours of the current theme. The CSS variables themselves are
  // unresolved and contain the colours of both themes.
  const { color, borderTopColor } = getComputedStyle(canvas)
  if (scene.pointed !== undefined) drawRing(pen, scene, scene.pointed, color)
  drawOutline(pen, scene.outline, borderTopColor)
}

function drawPoints(pen: CanvasRenderingContext2D, size: Size, scene: MapScene): void {
  const { positions, coloring, selected, view } = scene
  const count = positions.length / 2
  const radius = count > 3000 ? 2.5 : count > 800 ? 3.2 : 4.2
  // Draws one path per colour, because one path per point takes ten times as long.
  coloring.legend.forEach(({ color }, entry) => {
    for (const isChosen of selected.size === 0 ? [true] : [false, true]) {
      pen.beginPath()
      for (let point = 0; point < count; point++) {
        if (coloring.entries[point] !== entry) continue
        if (selected.size > 0 && selected.has(point) !== isChosen) continue
        const x = screenX(view, positions[2 * point]!)
        const y = screenY(view, positions[2 * point + 1]!)
        if (x < -9 || y < -9 || x > size.width + 9 || y > size.height + 9) continue
        pen.moveTo(x + radius, y)
        pen.arc(x, y, radius, 0, 2 * Math.PI)
      }
      pen.globalAlpha = isChosen ? 0.88 : 0.18
      pen.fillStyle = color
      pen.fill()
    }
  })
  pen.globalAlpha = 1
}

function drawRing(
  pen: CanvasRenderingContext2D,
  { positions, view }: MapScene,
  point: number,
  color: string,
): void {
  if (2 * point + 1 >= positions.length) return
  pen.beginPath()
  pen.arc(
    screenX(view, positions[2 * point]!),
    screenY(view, positions[2 * point + 1]!),
    8,
    0,
    2 * Math.PI,
  )
  pen.lineWidth = 2
  pen.strokeStyle = color
  pen.stroke()
}

function drawOutline(
  pen: CanvasRenderingContext2D,
  outline: readonly ScreenPoint[],
  color: string,
): void {
  const [first, ...others] = outline
  if (first === undefined) return
  pen.beginPath()
  pen.moveTo(first.x, first.y)
  for (const { x, y } of others) pen.lineTo(x, y)
  pen.closePath()
  pen.globalAlpha = 0.15
  pen.fillStyle = color
  pen.fill()
  pen.globalAlpha = 1
  pen.setLineDash([5, 4])
  pen.lineWidth = 1.5
  pen.strokeStyle = color
  pen.stroke()
  pen.setLineDash([])
}
