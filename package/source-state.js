/**
 * Detects whether dist/ was built from the current sources, without reading them. JavaScript,
 * because bin/stela.js runs it at each start and Node need not strip types.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** File of dist/ with the state of the sources when the build started. */
const stateFile = 'built-from.json'

/**
 * Hash of the names, sizes and modification times of all files that a build reads, except the
 * packages. Takes about 10 ms. The sources of the console are not part of dist/.
 */
export function sourceState() {
  const hash = createHash('sha256')
  add(join(root, 'src'))
  add(join(root, 'package'))
  return hash.digest('hex')

  /** @param {string} folder */
  function add(folder) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (path !== join(root, 'src', 'console')) add(path)
      } else {
        const { size, mtimeMs } = statSync(path)
        hash.update(`${path.slice(root.length)}\0${size}\0${mtimeMs}\n`)
      }
    }
  }
}

/** Whether dist/ was built from the current sources. */
export function isCurrent() {
  try {
    const { sources } = JSON.parse(readFileSync(join(root, 'dist', stateFile), 'utf8'))
    return sources === sourceState()
  } catch {
    return false
  }
}

/**
 * Records in a folder of built files from which state of the sources they were built.
 *
 * @param {string} folder
 * @param {string} sources
 */
export function writeState(folder, sources) {
  writeFileSync(join(folder, stateFile), `${JSON.stringify({ sources })}\n`)
}
