/** Splitter between the tree and the page: drag it, or move it by the arrow keys. */
import { useLayoutEffect, useState } from 'preact/hooks'

const storageKey = 'stela.tree-width'
const usualWidth = 280
const narrowest = 180
const widest = 640
const step = 16

export function TreeSplitter() {
  const [width, setWidth] = useState(readWidth)
  useLayoutEffect(() => {
    document.documentElement.style.setProperty('--tree-width', `${width}px`)
  }, [width])
  const change = (wanted: number) => {
    const next = Math.round(Math.max(narrowest, Math.min(widest, wanted)))
    setWidth(next)
    try {
      localStorage.setItem(storageKey, String(next))
    } catch {
      // The storage is full or disabled. The width lasts until the page is reloaded.
    }
  }
  return (
    <div
      class="tree-splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the tree"
      aria-valuenow={width}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      tabIndex={0}
      onDblClick={() => change(usualWidth)}
      onPointerDown={(event) => startDragging(event, width, change)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') change(width - step)
        else if (event.key === 'ArrowRight') change(width + step)
        else return
        event.preventDefault()
      }}
    />
  )
}

function readWidth(): number {
  try {
    const width = Number(localStorage.getItem(storageKey))
    return width >= narrowest && width <= widest ? width : usualWidth
  } catch {
    return usualWidth
  }
}

function startDragging(
  event: PointerEvent,
  width: number,
  change: (width: number) => void,
): void {
  event.preventDefault()
  const splitter = event.currentTarget as HTMLElement
  splitter.setPointerCapture(event.pointerId)
  const move = (moved: PointerEvent) => change(width + moved.clientX - event.clientX)
  splitter.addEventListener('pointermove', move)
  const end = () => splitter.removeEventListener('pointermove', move)
  splitter.addEventListener('lostpointercapture', end, { once: true })
}
