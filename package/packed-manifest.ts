/**
 * npm packs the package.json that it finds. That of a checkout has scripts and packages for
 * those who work on it; npm warns of `prepare` when it installs one. So while a package is
 * made, package.json is as those who install it need it: `prepack` runs this, and `postpack`
 * runs it with --undo.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const manifest = join(root, 'package.json')
/** Where that of the checkout is meanwhile; nothing of build/ is packed but what is named. */
const kept = join(root, 'build', 'package.json')

const forDevelopment = ['scripts', 'devDependencies', 'allowScripts']

if (!process.argv.includes('--undo')) replace()
else if (existsSync(kept)) renameSync(kept, manifest)

function replace(): void {
  const text = readFileSync(manifest, 'utf8')
  const all = JSON.parse(text) as Record<string, unknown>
  // A package that was not finished has left it like this, and what it was is kept already.
  if (!('scripts' in all)) return
  writeFileSync(kept, text)
  const packed = Object.entries(all).filter(([name]) => !forDevelopment.includes(name))
  writeFileSync(manifest, `${JSON.stringify(Object.fromEntries(packed), null, 2)}\n`)
}
