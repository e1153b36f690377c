/**
 * A virtual list of lines of equal height. Only visible lines are rendered, so the DOM contains a
 * few dozen lines, however long the list is.
 */
import type { ComponentChildren, Ref } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualListProps {
  readonly count: number
  readonly lineHeight: number
  readonly renderLine: (position: number) => ComponentChildren
  /** Content above the lines, which scrolls horizontally with them. */
  readonly header?: ComponentChildren
  readonly class?: string
  /** Attributes of the element that contains the header and the lines. */
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly onScroll?: (element: HTMLElement) => void
  readonly listRef?: Ref<HTMLDivElement>
  /** Minimum width of the lines, in pixels. */
  readonly width?: number
}

/** Number of lines that are rendered beyond each edge, so that scrolling shows no gaps. */
const overscan = 12

/** Maximum height of the element in pixels; browsers limit the height to about this value. */
const heightMax = 10_000_000

export function VirtualList(props: VirtualListProps) {
  const { count, lineHeight, renderLine, header, width } = props
  const outer = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  useLayoutEffect(() => {
    const element = outer.current!
    const measure = () => {
      setView((before) =>
        before.height === element.clientHeight && before.top === element.scrollTop
          ? before
          : { top: element.scrollTop, height: element.clientHeight },
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const height = Math.min(count * lineHeight, heightMax)
  // If the list exceeds the maximum height, one pixel of scrolling passes several lines.
  const scale = height === 0 ? 1 : (count * lineHeight) / height
  const top = view.top * scale
  const first = Math.max(0, Math.min(count, Math.floor(top / lineHeight)) - overscan)
  const last = Math.min(count, Math.ceil((top + view.height) / lineHeight) + overscan)
  const offset = first * lineHeight - top + view.top
  const lines: ComponentChildren[] = []
  for (let position = first; position < last; position++) lines.push(renderLine(position))
  return (
    <div
      {...props.attributes}
      ref={(element: HTMLDivElement | null) => {
        outer.current = element
        if (typeof props.listRef === 'function') props.listRef(element)
        else if (props.listRef) props.listRef.current = element
      }}
      class={`virtual-list ${props.class ?? ''}`}
      onScroll={(event) => {
        const element = event.currentTarget
        setView({ top: element.scrollTop, height: element.clientHeight })
        props.onScroll?.(element)
      }}
    >
      {header}
      <div
        class="virtual-lines"
        role="presentation"
        style={{
          height: `${height}px`,
          ...(width === undefined ? {} : { width: `${width}px` }),
        }}
      >
        <div
          role="presentation"
          style={{ transform: `translateY(${Math.max(0, offset)}px)` }}
        >
          {lines}
        </div>
      </div>
    </div>
  )
}
