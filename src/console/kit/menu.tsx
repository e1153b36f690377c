/** A context menu. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly kind?: 'danger'
  readonly run: () => void
}

export interface MenuPlace {
  readonly x: number
  readonly y: number
}

export function Menu({
  label,
  items,
  at,
  onClose,
}: {
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly at: MenuPlace
  readonly onClose: () => void
}) {
  const menu = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState(at)
  useLayoutEffect(() => {
    const { width, height } = menu.current!.getBoundingClientRect()
    setPlace({
      x: Math.max(4, Math.min(at.x, innerWidth - width - 4)),
      y: Math.max(4, Math.min(at.y, innerHeight - height - 4)),
    })
  }, [at])
  // This is a layout effect, so that the menu has the focus before the next key press.
  useLayoutEffect(() => {
    const before = document.activeElement
    menu.current!.querySelector('button')?.focus()
    const closeOutside = (event: Event) => {
      if (!menu.current!.contains(event.target as Node)) onClose()
    }
    addEventListener('pointerdown', closeOutside, true)
    addEventListener('resize', onClose)
    return () => {
      removeEventListener('pointerdown', closeOutside, true)
      removeEventListener('resize', onClose)
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <div
      ref={menu}
      class="menu"
      role="menu"
      aria-label={label}
      style={{ left: `${place.x}px`, top: `${place.y}px` }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' || event.key === 'Tab') onClose()
        else if (!moveFocus(menu.current!, event.key)) return
        event.preventDefault()
        event.stopPropagation()
      }}
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          class={item.kind}
          tabIndex={-1}
          onClick={() => {
            onClose()
            item.run()
          }}
        >
          {item.icon === undefined ? <span class="icon" /> : <Icon name={item.icon} />}
          <span>{item.label}</span>
        </button>
      ))}
    </div>
  )
}

/** Moves the focus if the key navigates in a menu. Returns whether the key does so. */
function moveFocus(menu: HTMLElement, key: string): boolean {
  const items = [...menu.querySelectorAll('button')]
  const position = items.indexOf(document.activeElement as HTMLButtonElement)
  const next = {
    ArrowDown: (position + 1) % items.length,
    ArrowUp: (position - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[key]
  if (next === undefined) return false
  items[next]?.focus()
  return true
}
