/**
 * `npm run package`: makes the file that people install. npm packs the package.json that it
 * finds, and that of a checkout has scripts and packages for those who work on it; npm warns of
 * `prepare` when it installs one. So what is packed lies in a folder of its own, beside a
 * package.json for those who install it. The checkout stays as it is, however this ends.
 * Flags are those of `npm pack`.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

const forDevelopment = ['scripts', 'devDependencies', 'allowScripts']

await using staged = await mkdtempDisposable(join(tmpdir(), 'stela-package-'))
stage(staged.path)
const { status } = spawnSync('npm', ['pack', staged.path, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1

function stage(folder: string): void {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly files: readonly string[]
  }
  for (const path of globSync(['README.md', 'LICENSE', ...manifest.files], { cwd: root }))
    cpSync(join(root, path), join(folder, path), { recursive: true })
  const packed = Object.entries(manifest).filter(([name]) => !forDevelopment.includes(name))
  const text = JSON.stringify(Object.fromEntries(packed), null, 2)
  writeFileSync(join(folder, 'package.json'), `${text}\n`)
}
