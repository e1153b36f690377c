/** Tabs: links to pages, each with its own URL. */
export interface TabLink {
  readonly label: string
  readonly href: string
  readonly isCurrent: boolean
}

export function TabLinks({
  label,
  tabs,
}: {
  readonly label: string
  readonly tabs: readonly TabLink[]
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.isCurrent ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}

export interface Option<T extends string> {
  readonly value: T
  readonly label: string
}

/** A choice between a few options, side by side. */
export function Segments<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string
  readonly options: readonly Option<T>[]
  readonly value: T
  readonly onChange: (value: T) => void
}) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}
