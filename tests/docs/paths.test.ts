/** The files and folders that pages for contributors name are there, and under that name. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, test } from 'node:test'

const root = new URL('../../', import.meta.url)
const pathsOf = (pattern: string) => globSync(pattern, { cwd: root })
const pages = pathsOf('docs/{ARCHITECTURE,CONTRIBUTING,internals/*}.md')
const sources = pathsOf('{src,tests,bench}/**/*.ts')
const names = new Set(sources.map((path) => basename(path)))

function read(page: string): string {
  return readFileSync(new URL(page, root), 'utf8')
}

/** A name with folders is one from the root; a bare one is that of some file. */
function isThere(name: string): boolean {
  return name.includes('/') ? existsSync(new URL(name, root)) : names.has(name)
}

for (const page of pages)
  test(`${page} names files that are there`, () => {
    const named = [...read(page).matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(
      ([, name]) => name!,
    )
    // In the walk of a request, a folder is named from its neighbour.
    const relative = ['local/']
    const missing = named.filter((name) => !relative.includes(name) && !isThere(name))
    if (/[A-Z]\.md$/.test(page)) assert(named.length > 20)
    assert.deepEqual(missing, [])
  })

describe('the folders in docs/ARCHITECTURE.md', () => {
  const block = /^src\/\n[^]*?^```$/m.exec(read('docs/ARCHITECTURE.md'))![0]
  const shown = new Set<string>()
  const levels: string[] = []
  for (const line of block.split('\n')) {
    const [, indent, entries] = /^( *)((?:[\w.-]+\/? +)*[\w.-]+\/?)/.exec(line) ?? []
    if (indent === undefined || indent.length % 2 !== 0 || indent.length > 6) continue
    const level = indent.length / 2
    // Folders may share a line; files stand alone, and what follows them is prose.
    for (const [position, entry] of entries!.split(/ +/).entries()) {
      if (!entry.endsWith('/') && (position > 0 || !entry.endsWith('.ts'))) break
      levels[level] = entry
      shown.add(levels.slice(0, level + 1).join(''))
    }
  }

  test('are there', () => {
    const missing = [...shown].filter((path) => !existsSync(new URL(path, root)))
    assert(shown.size > 40)
    assert.deepEqual(missing, [])
  })

  test('are all that are directly under src, and in the engines', () => {
    const folders = pathsOf('src/{*,engine/*,engine/*/*}/').map((path) => `${path}/`)
    assert.deepEqual(
      folders.filter((path) => !shown.has(path.replace(/\/+$/, '/'))),
      [],
    )
  })
})
