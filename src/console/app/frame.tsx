/** The frame of every page: header, tree, messages. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isReachable, send } from '../api/send.ts'
import { signOut } from '../api/session.ts'
import { Tree } from '../browse/tree.tsx'
import { Button } from '../kit/button.tsx'
import { SelectField } from '../kit/fields.tsx'
import { useLoad, useMedia, useStore } from '../kit/hooks.ts'
import { Notice } from '../kit/notice.tsx'
import { Toasts } from '../kit/toasts.tsx'
import { Brand } from './brand.tsx'
import { TreeSplitter } from './tree-splitter.tsx'
import { serverPages, type ServerPage } from './pages.ts'
import { route } from '../navigation/route.ts'
import { chooseTheme, theme, type Theme } from '../kit/theme.ts'

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const current = useStore(route)
  const [isTreeShown, setTreeShown] = useState(false)
  const { value: pages = [] } = useLoad(allowedPages, [])
  const isPhone = useMedia('(width <= 600px)')
  const tools = <FrameTools pages={pages} />
  // In narrow windows the tree covers the page, so navigation closes the tree.
  useEffect(() => setTreeShown(false), [current])
  return (
    <div class={`frame ${isTreeShown ? 'tree-shown' : ''}`}>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <header class="frame-header">
        <Button
          icon="menu"
          label={isTreeShown ? 'Hide the menu' : 'Show the menu'}
          kind="quiet"
          class="tree-switch"
          onClick={() => setTreeShown(!isTreeShown)}
        />
        <a class="home-link" href="#/" aria-label="Stela: all databases">
          <Brand />
        </a>
        {!isPhone && tools}
      </header>
      <Unreachable />
      <aside class="frame-tree" aria-label="Navigation">
        {isPhone && <div class="menu-tools">{tools}</div>}
        <Tree />
        <TreeSplitter />
      </aside>
      <main id="main" class="frame-main" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
    </div>
  )
}

const retryAfterMs = 2000

/**
 * Shows that the server is unreachable, and polls until the server answers. The page below the
 * notice stays unchanged.
 */
function Unreachable() {
  const isThere = useStore(isReachable)
  useEffect(() => {
    if (isThere) return undefined
    const timer = setInterval(() => {
      send('stargate/health').catch(() => undefined)
    }, retryAfterMs)
    return () => clearInterval(timer)
  }, [isThere])
  if (isThere) return null
  return (
    <div class="unreachable">
      <Notice kind="error" title="The server cannot be reached.">
        The console retries every 2 s and continues when the server is reachable again.
      </Notice>
    </div>
  )
}

/**
 * Moves the focus to the page. The browser cannot follow the link to #main, because the console
 * uses the fragment of the URL as its route.
 */
function skipToMain(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')?.focus()
}

/** Links and settings. They are in the header, or on the width of a phone in the menu. */
function FrameTools({ pages }: { readonly pages: readonly ServerPage[] }) {
  return (
    <>
      <ServerLinks pages={pages} />
      <ThemeSwitch />
      <Button kind="quiet" onClick={signOut}>
        Sign out
      </Button>
    </>
  )
}

function ServerLinks({ pages }: { readonly pages: readonly ServerPage[] }) {
  const current = useStore(route)
  return (
    <nav class="server-links" aria-label="Server">
      <a href="#/" aria-current={current.kind === 'page' ? undefined : 'page'}>
        Data
      </a>
      {pages.map(({ page, label }) => (
        <a
          key={page}
          href={`#/${page}`}
          aria-current={current.page === page ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  )
}

async function allowedPages(): Promise<readonly ServerPage[]> {
  const answers = await Promise.all(
    serverPages.map(async ({ isAllowed }) => (await isAllowed?.()) ?? true),
  )
  return serverPages.filter((_, position) => answers[position])
}

function ThemeSwitch() {
  return (
    <SelectField<Theme>
      label="Theme"
      isLabelHidden
      class="theme-switch"
      value={useStore(theme)}
      onChange={chooseTheme}
      choices={[
        { value: 'system', label: 'Theme: system' },
        { value: 'light', label: 'Theme: light' },
        { value: 'dark', label: 'Theme: dark' },
      ]}
    />
  )
}
