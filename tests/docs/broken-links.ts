/** Finds broken links of pages: to missing files, or to missing headings. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Broken links of the pages that match one of the patterns in a folder. */
export function brokenLinks(folder: string, patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: folder }).flatMap((page) => {
    const text = readFileSync(join(folder, page), 'utf8')
    return Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link!)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => !leadsSomewhere(new URL(link, pathToFileURL(join(folder, page)))))
      .map((link) => `${page} links to ${link}`)
  })
}

function leadsSomewhere(target: URL): boolean {
  if (!existsSync(target)) return false
  return target.hash === '' || anchorsOf(target).includes(target.hash.slice(1))
}

function anchorsOf(page: URL): string[] {
  const headings = readFileSync(page, 'utf8').match(/^#+ .*$/gm) ?? []
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}
