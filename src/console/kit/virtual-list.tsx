/**
 * A list of lines of equal height, of which only those in sight are made. However long it is,
 * the page holds a few dozen of them.
 */
import type { ComponentChildren, Ref } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualListProps {
  readonly count: number
  readonly lineHeight: number
  readonly renderLine: (position: number) => ComponentChildren
  /** Stands above the lines, and moves sideways with them. */
  readonly header?: ComponentChildren
  readonly class?: string
  /** Of what holds the lines and the header. */
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly onScroll?: (element: HTMLElement) => void
  readonly listRef?: Ref<HTMLDivElement>
  /** Lines are as wide as this, if that is wider than the list. */
  readonly width?: number
}

/** Lines beyond the edges, so that scrolling shows no gaps. */
const overscan = 12

/** Browsers cannot make elements taller than about this. */
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
  // Where a list is taller than elements can be, a pixel of scrolling passes several lines.
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
