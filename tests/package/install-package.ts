/** Packs a checkout with `npm pack`, and installs the package in an empty folder. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readStages } from './bare-root.ts'
import { runCommand } from './run-command.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Packed {
  readonly filename: string
  /** Sizes of the package file and of its unpacked files, in bytes. */
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

export interface Installed {
  /** The checkout in which the package was built, with its folders dist/ and build/. */
  readonly checkout: string
  /** The folder in which the package is installed. */
  readonly app: string
  readonly packed: Packed
  /** Environment for npm commands. Its cache was empty when the installation started. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Packs a copy of a checkout that contains only the sources of the image and what `npm pack` adds,
 * and installs the package. If the install script of an optional package cannot download its files,
 * npm omits this package.
 */
export async function installPackage(
  folder: string,
  flags: readonly string[] = [],
): Promise<Installed> {
  const checkout = join(folder, 'checkout')
  const texts = ['README.md', 'LICENSE', 'CHANGELOG.md', 'bin', 'docs', 'bench']
  for (const name of [...imageSources(), ...texts])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  // Reuses the files that `npm ci` has built. Everything else is built again.
  cpSync(join(root, 'build'), join(checkout, 'build'), { recursive: true })
  const env = { npm_config_cache: join(folder, 'cache') }
  const where = { cwd: checkout, env }
  await runCommand('npm', ['run', '--silent', 'build:package'], where)
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const report = await runCommand('npm', pack, where)
  const [packed] = JSON.parse(report.slice(report.indexOf('[\n'))) as [Packed]
  const app = join(folder, 'app')
  mkdirSync(app)
  const install = ['install', ...flags, join('..', packed.filename)]
  await runCommand('npm', install, { cwd: app, env })
  return { checkout, app, packed, env }
}

/** The files that the first stage of the Dockerfile copies. */
export function imageSources(): string[] {
  const [building] = readStages(join(root, 'deploy/Dockerfile'))
  return building!
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text }) => text.split(' ').slice(0, -1))
}
