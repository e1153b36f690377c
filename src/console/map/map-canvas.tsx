/** The map: draws points, and handles hover, zoom, panning and the lasso. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Coloring } from './map-colors.ts'
import { drawMap } from './draw-map.ts'
import {
  fitView,
  panBy,
  pointAt,
  pointsInside,
  zoomAt,
  type MapView,
  type ScreenPoint,
} from './map-view.ts'

export interface MapCanvasProps {
  readonly positions: Float32Array
  readonly coloring: Coloring
  readonly selected: ReadonlySet<number>
  readonly pointed: number | undefined
  /** Whether dragging the pointer draws a lasso; otherwise dragging pans the map. */
  readonly isLasso: boolean
  /** A counter. When it changes, the view fits the whole map again. */
  readonly fitTurn: number
  readonly onPoint: (point: number) => void
  readonly onSelect: (points: readonly number[]) => void
  readonly label: string
}

/** Maximum distance in pixels at which the pointer hits a point. */
const reach = 18
const zoomStep = 1.25
const panStep = 40

interface Drag {
  readonly isLasso: boolean
  readonly outline: ScreenPoint[]
  last: ScreenPoint
}

export function MapCanvas(props: MapCanvasProps) {
  const { positions, coloring, selected, pointed, isLasso, fitTurn } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  /** The view after panning or zooming; undefined while the whole map fits the view. */
  const [moved, setMoved] = useState<MapView | undefined>(undefined)
  const [outline, setOutline] = useState<readonly ScreenPoint[]>([])
  const [theme, setTheme] = useState(0)
  const drag = useRef<Drag | undefined>(undefined)
  const view = moved ?? fitView(positions, size)

  useEffect(() => setMoved(undefined), [fitTurn])
  useLayoutEffect(() => {
    const element = canvas.current!
    const measure = () =>
      setSize({ width: element.clientWidth, height: element.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // Draws again when the theme changes, because the theme determines the colours.
    const themes = new MutationObserver(() => setTheme((turn) => turn + 1))
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    const system = matchMedia('(prefers-color-scheme: dark)')
    const onSystem = () => setTheme((turn) => turn + 1)
    system.addEventListener('change', onSystem)
    return () => {
      observer.disconnect()
      themes.disconnect()
      system.removeEventListener('change', onSystem)
    }
  }, [])
  useLayoutEffect(() => {
    drawMap(canvas.current!, size, {
      positions,
      coloring,
      selected,
      pointed,
      view,
      outline,
    })
  }, [positions, coloring, selected, pointed, size, moved, outline, theme])
  // The listener is not registered through Preact, whose wheel listeners are passive and could not
  // prevent the page from scrolling.
  useEffect(() => {
    const element = canvas.current!
    const onWheel = (event: WheelEvent) => {
      event.preventDefault()
      const factor = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015))
      const { x, y } = placeOf(event)
      setMoved((before) => zoomAt(before ?? fitView(positions, size), factor, x, y))
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [positions, size])

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    canvas.current!.setPointerCapture(event.pointerId)
    const place = placeOf(event)
    drag.current = { isLasso: isLasso || event.shiftKey, outline: [place], last: place }
  }
  const onPointerMove = (event: PointerEvent) => {
    const place = placeOf(event)
    const held = drag.current
    if (held === undefined) {
      const found = pointAt(positions, view, place.x, place.y, reach)
      if (found !== undefined && found !== pointed) props.onPoint(found)
    } else if (held.isLasso) {
      held.outline.push(place)
      setOutline([...held.outline])
    } else {
      setMoved(panBy(view, place.x - held.last.x, place.y - held.last.y))
      held.last = place
    }
  }
  const onPointerUp = () => {
    const held = drag.current
    drag.current = undefined
    setOutline([])
    if (held?.isLasso !== true) return
    props.onSelect(
      held.outline.length < 3 ? [] : pointsInside(positions, view, held.outline),
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const middle = [size.width / 2, size.height / 2] as const
    const next = {
      ArrowLeft: () => panBy(view, panStep, 0),
      ArrowRight: () => panBy(view, -panStep, 0),
      ArrowUp: () => panBy(view, 0, panStep),
      ArrowDown: () => panBy(view, 0, -panStep),
      '+': () => zoomAt(view, zoomStep, ...middle),
      '=': () => zoomAt(view, zoomStep, ...middle),
      '-': () => zoomAt(view, 1 / zoomStep, ...middle),
      '0': () => undefined,
    }[event.key]
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    setMoved(next())
  }
  return (
    <canvas
      ref={canvas}
      class={`map-canvas ${isLasso ? 'lasso' : ''}`}
      role="img"
      tabIndex={0}
      aria-label={props.label}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={onPointerUp}
      onKeyDown={onKeyDown}
    />
  )
}

function placeOf(event: MouseEvent): ScreenPoint {
  return { x: event.offsetX, y: event.offsetY }
}
