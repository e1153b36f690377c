/** `npm pack` in a checkout, and `npm install` of what it makes in an empty folder. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readStages } from './bare-root.ts'
import { runCommand } from './run-command.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Packed {
  readonly filename: string
  /** Bytes of the package, and of its files. */
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

export interface Installed {
  /** Where it was built: dist/ and build/ are there. */
  readonly checkout: string
  /** Where it is installed. */
  readonly app: string
  readonly packed: Packed
  /** For commands of npm: with it they use a cache that was empty. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Built in a copy of what the image is built from, and of what `npm pack` takes besides. What
 * the install script of an optional package cannot fetch is left out by npm.
 */
export async function installPackage(
  folder: string,
  flags: readonly string[] = [],
): Promise<Installed> {
  const checkout = join(folder, 'checkout')
  const texts = ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs', 'bench']
  for (const name of [...imageSources(), ...texts])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  // What `npm ci` has built here; all else that packing builds is built anew.
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

/** What the first stage of the Dockerfile copies. */
export function imageSources(): string[] {
  const [building] = readStages(join(root, 'deploy/Dockerfile'))
  return building!
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text }) => text.split(' ').slice(0, -1))
}
