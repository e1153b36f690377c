/** Navigation tree: databases, keyspaces, collections and tables. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { isReachable } from '../api/send.ts'
import { goTo, route, routeTo, type Route } from '../navigation/route.ts'
import { fileDrop } from '../navigation/dropped-file.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/fields.tsx'
import { formatBytes, formatCount, formatMany, formatShortCount } from '../kit/format.ts'
import { useStore } from '../kit/hooks.ts'
import { Icon, type IconName } from '../kit/icons.tsx'
import { messageOf } from '../kit/notice.tsx'
import { VirtualList } from '../kit/virtual-list.tsx'
import {
  catalog,
  keyOf,
  loadDatabases,
  loadKeyspaces,
  loadTargets,
  needKeyspaces,
  needTargets,
  refreshDatabase,
  type Catalog,
  type Target,
} from '../catalog/catalog.ts'

interface Line {
  readonly key: string
  readonly level: number
  readonly label: string
  readonly icon: IconName
  readonly href: string
  /** Whether the children are shown; undefined for a leaf. */
  readonly isOpen?: boolean
  /** Number of records and size on disk. */
  readonly facts?: string
  readonly title?: string
  readonly isCurrent: boolean
  /** Loads the children if they are not loaded yet. */
  readonly open?: () => void
  /** Handlers for dropped files, on a collection or table. */
  readonly drop?: ReturnType<typeof fileDrop>
}

export function Tree() {
  const state = useStore(catalog)
  const current = useStore(route)
  const [wanted, setWanted] = useState('')
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const lines = listLines(state, current, wanted.trim().toLowerCase(), (key, isDefault) =>
    isDefault ? !closed.has(key) : opened.has(key),
  )
  // Loads the children of open lines.
  useEffect(() => {
    for (const line of lines) if (line.isOpen === true) line.open?.()
  })
  const isBack = useStore(isReachable)
  useEffect(() => {
    if (isBack && hasFailed(state)) refreshAll()
  }, [isBack])
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden && isReachable.get())
        void refreshDatabase(current.database, current.keyspace)
    }
    const timer = setInterval(refresh, refreshEveryMs)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [current.database, current.keyspace])
  const toggle = (line: Line) => {
    const isOpen = line.isOpen === true
    setClosed(changedSet(closed, line.key, isOpen))
    setOpened(changedSet(opened, line.key, !isOpen))
  }
  return (
    <div class="tree-frame">
      <div class="tree-tools">
        <TextField
          label="Find a collection or table"
          isLabelHidden
          type="search"
          placeholder="Find"
          value={wanted}
          onChange={setWanted}
        />
        <Button icon="refresh" label="Refresh" kind="quiet" onClick={refreshAll} />
      </div>
      {state.databases.error !== undefined && (
        <p class="tree-note bad">{messageOf(state.databases.error)}</p>
      )}
      <TreeLines lines={lines} onToggle={toggle} />
    </div>
  )
}

/** Milliseconds between refreshes, which show what other clients create and drop. */
const refreshEveryMs = 10_000

function changedSet(set: ReadonlySet<string>, key: string, isIn: boolean) {
  const changed = new Set(set)
  if (isIn) changed.add(key)
  else changed.delete(key)
  return changed
}

function hasFailed({ databases, keyspaces, targets }: Catalog): boolean {
  return [databases, ...keyspaces.values(), ...targets.values()].some(
    ({ error }) => error !== undefined,
  )
}

function refreshAll(): void {
  const { keyspaces, targets } = catalog.get()
  void loadDatabases()
  for (const database of keyspaces.keys()) void loadKeyspaces(database)
  for (const key of targets.keys()) {
    const [database = '', keyspace = ''] = key.split('/')
    void loadTargets(database, keyspace)
  }
}

function TreeLines({
  lines,
  onToggle,
}: {
  readonly lines: readonly Line[]
  readonly onToggle: (line: Line) => void
}) {
  const tree = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState('')
  /** The line that gets the focus once it is rendered. */
  const awaited = useRef<string | undefined>(undefined)
  const currentAt = lines.findIndex((line) => line.isCurrent)
  const currentKey = lines[currentAt]?.key
  const latestAt = useRef(currentAt)
  latestAt.current = currentAt
  useEffect(() => {
    const element = tree.current!
    const showCurrent = () => {
      if (latestAt.current >= 0) scrollTo(element, latestAt.current)
    }
    showCurrent()
    // In narrow windows, the tree has no height until the user opens it.
    let height = element.clientHeight
    const observer = new ResizeObserver(() => {
      if (height === 0) showCurrent()
      height = element.clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [currentKey])
  const stop =
    lines.find(({ key }) => key === focused) ?? lines.find((line) => line.isCurrent)
  const tabStop = (stop ?? lines[0])?.key
  const focusAt = (position: number) => {
    const line = lines[Math.max(0, Math.min(position, lines.length - 1))]
    if (line === undefined) return
    setFocused(line.key)
    scrollTo(tree.current!, lines.indexOf(line))
    // The next key press must find the focus, so the line gets it now if it is rendered.
    const element = tree.current!.querySelector<HTMLElement>(
      `[data-key="${CSS.escape(line.key)}"]`,
    )
    if (element === null) awaited.current = line.key
    else element.focus()
  }
  const onKey = (event: KeyboardEvent, line: Line, position: number) => {
    const { key } = event
    if (key === 'ArrowDown') focusAt(position + 1)
    else if (key === 'ArrowUp') focusAt(position - 1)
    else if (key === 'Home') focusAt(0)
    else if (key === 'End') focusAt(lines.length - 1)
    else if (key === 'ArrowRight' && line.isOpen === false) onToggle(line)
    else if (key === 'ArrowRight' && line.isOpen === true) focusAt(position + 1)
    else if (key === 'ArrowLeft' && line.isOpen === true) onToggle(line)
    else if (key === 'ArrowLeft') {
      const above = lines
        .slice(0, position)
        .findLastIndex(({ level }) => level < line.level)
      if (above >= 0) focusAt(above)
    } else if (key === ' ') goTo(line.href)
    else return
    event.preventDefault()
  }
  return (
    <VirtualList
      class="tree"
      count={lines.length}
      lineHeight={lineHeight}
      listRef={tree}
      attributes={{ role: 'tree', 'aria-label': 'Databases' }}
      renderLine={(position) => {
        const line = lines[position]!
        return (
          <a
            key={line.key}
            ref={(element) => {
              if (element === null || awaited.current !== line.key) return
              awaited.current = undefined
              element.focus()
            }}
            data-key={line.key}
            href={line.href}
            role="treeitem"
            aria-level={line.level}
            aria-expanded={line.isOpen}
            aria-current={line.isCurrent ? 'page' : undefined}
            aria-selected={line.isCurrent}
            tabIndex={line.key === tabStop ? 0 : -1}
            title={line.title ?? line.label}
            class={`tree-line level-${line.level}`}
            onFocus={() => setFocused(line.key)}
            onKeyDown={(event) => onKey(event, line, position)}
            {...line.drop}
          >
            <span
              class={`twisty ${line.isOpen === true ? 'open' : ''}`}
              aria-hidden="true"
              onClick={(event) => {
                event.preventDefault()
                if (line.isOpen !== undefined) onToggle(line)
              }}
            >
              {line.isOpen !== undefined && <Icon name="forward" />}
            </span>
            <Icon name={line.icon} />
            <span class="tree-label">{line.label}</span>
            {line.facts !== undefined && <span class="tree-facts">{line.facts}</span>}
          </a>
        )
      }}
    />
  )
}

/** Height of a line in pixels, as in the style sheet. */
const lineHeight = 28

/** Scrolls the least distance that shows the line. */
function scrollTo(tree: HTMLElement, position: number): void {
  const top = position * lineHeight
  if (top < tree.scrollTop) tree.scrollTop = top
  else if (top + lineHeight > tree.scrollTop + tree.clientHeight)
    tree.scrollTop = top + lineHeight - tree.clientHeight
}

function listLines(
  state: Catalog,
  current: Route,
  wanted: string,
  isOpenAt: (key: string, isDefault: boolean) => boolean,
): readonly Line[] {
  const databases = state.databases.value ?? []
  return databases.flatMap(({ id, name, isHome }) => {
    const keyspaces = state.keyspaces.get(id)
    const isHere = current.database === id && current.kind !== 'page'
    const isOpen = isOpenAt(id, isHere || isHome)
    const database: Line = {
      key: id,
      level: 1,
      label: name,
      icon: 'database',
      href: routeTo(id),
      isOpen,
      isCurrent: isHere && current.kind === 'database',
      open: () => {
        needKeyspaces(id)
      },
    }
    if (!isOpen) return [database]
    const below = (keyspaces?.value ?? []).flatMap((keyspace) =>
      listKeyspace(state, current, wanted, isOpenAt, id, keyspace),
    )
    const held = (keyspaces?.value ?? []).map(
      (keyspace) => state.targets.get(keyOf(id, keyspace))?.value,
    )
    return [{ ...database, ...sumOf(name, held) }, ...below]
  })
}

function listKeyspace(
  state: Catalog,
  current: Route,
  wanted: string,
  isOpenAt: (key: string, isDefault: boolean) => boolean,
  database: string,
  keyspace: string,
): readonly Line[] {
  const key = keyOf(database, keyspace)
  const targets = state.targets.get(key)
  const isHere = current.database === database && current.keyspace === keyspace
  const count = state.keyspaces.get(database)?.value?.length ?? 0
  // A search opens all keyspaces. If there are many, it only covers those that are already loaded,
  // because loading each of them takes several requests.
  const isSearched = wanted !== '' && (count <= searchedMax || targets !== undefined)
  const isOpen = isSearched || isOpenAt(key, isHere || count <= openedMax)
  const line: Line = {
    key,
    level: 2,
    label: keyspace,
    icon: 'keyspace',
    href: routeTo(database, keyspace),
    isOpen,
    isCurrent: isHere && current.kind === 'keyspace',
    open: () => {
      needTargets(database, keyspace)
    },
    ...sumOf(keyspace, [targets?.value]),
  }
  if (!isOpen) return wanted === '' || keyspace.toLowerCase().includes(wanted) ? [line] : []
  const shown = (targets?.value ?? []).filter(({ name }) =>
    name.toLowerCase().includes(wanted),
  )
  const below = shown.map(({ name, kind, documents, bytes }): Line => {
    const title = [
      `${name}: a ${kind}`,
      ...(documents === undefined ? [] : [`${formatCount(documents)} ${many(kind)}`]),
      ...(bytes === undefined ? [] : [formatBytes(bytes)]),
    ]
    return {
      key: `${key}/${name}`,
      level: 3,
      label: name,
      icon: kind,
      href: routeTo(database, keyspace, name, current.tab === '' ? 'data' : current.tab),
      isCurrent: isHere && current.name === name,
      drop: fileDrop({ database, keyspace, name }),
      title: title.join(', '),
      ...(documents === undefined ? {} : { facts: factsOf(documents, bytes) }),
    }
  })
  const isMatch = wanted === '' || keyspace.toLowerCase().includes(wanted)
  return !isMatch && below.length === 0 ? [] : [line, ...below]
}

/** Maximum number of keyspaces that are open before the user opens one. */
const openedMax = 3
/** Maximum number of keyspaces that a search loads. */
const searchedMax = 30

/**
 * Total size and counts of the keyspaces; empty while the size of a collection or table is unknown.
 */
function sumOf(
  name: string,
  keyspaces: readonly (readonly Target[] | undefined)[],
): Pick<Line, 'facts' | 'title'> {
  const targets = keyspaces.flatMap((held) => held ?? [])
  const isKnown =
    keyspaces.every((held) => held !== undefined) &&
    targets.every(({ bytes }) => bytes !== undefined)
  if (!isKnown || targets.length === 0) return {}
  const facts = formatBytes(targets.reduce((sum, { bytes = 0 }) => sum + bytes, 0))
  const tables = targets.filter(({ kind }) => kind === 'table').length
  const counts = [
    formatMany(targets.length - tables, 'collection'),
    formatMany(tables, 'table'),
  ]
  return { facts, title: `${name}: ${counts.join(' and ')}, ${facts}` }
}

function factsOf(documents: number, bytes: number | undefined): string {
  const count = formatShortCount(documents)
  return bytes === undefined ? count : `${count} · ${formatBytes(bytes)}`
}

function many(kind: 'collection' | 'table'): string {
  return kind === 'table' ? 'rows' : 'documents'
}
