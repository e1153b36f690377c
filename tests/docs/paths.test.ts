/**
 * Checks the files and folders that pages for contributors mention: they exist under that name.
 */
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

/**
 * Whether a file or folder exists. A name with folders is relative to the root; a bare name matches
 * any file with that name.
 */
function isThere(name: string): boolean {
  return name.includes('/') ? existsSync(new URL(name, root)) : names.has(name)
}

for (const page of pages)
  test(`${page} names only existing files`, () => {
    const named = [...read(page).matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(
      ([, name]) => name!,
    )
    // Pages mention this folder relative to src/providers/.
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
    // Several folders may share a line; a file has its own line, followed by a description.
    for (const [position, entry] of entries!.split(/ +/).entries()) {
      if (!entry.endsWith('/') && (position > 0 || !entry.endsWith('.ts'))) break
      levels[level] = entry
      shown.add(levels.slice(0, level + 1).join(''))
    }
  }

  test('exist in the repository', () => {
    const missing = [...shown].filter((path) => !existsSync(new URL(path, root)))
    assert(shown.size > 40)
    assert.deepEqual(missing, [])
  })

  test('include all folders of src, and of each engine', () => {
    const folders = pathsOf('src/{*,engine/*,engine/*/*}/').map((path) => `${path}/`)
    assert.deepEqual(
      folders.filter((path) => !shown.has(path.replace(/\/+$/, '/'))),
      [],
    )
  })
})
