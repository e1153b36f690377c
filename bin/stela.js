#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/**
 * The command `stela` of the package and of a checkout. It runs dist/, which loads faster than the
 * sources. In a checkout, it runs src/ instead if dist/ is missing or was built from other sources.
 */
import { existsSync } from 'node:fs'

if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`stela needs Node 24 or later, and this is ${process.versions.node}.`)
  process.exit(1)
}

const source = new URL('../src/main.ts', import.meta.url)
await import((await isBuilt()) ? '../dist/main.js' : source.href)

async function isBuilt() {
  // The package contains no sources.
  if (!existsSync(source)) return true
  const { isCurrent } = await import('../package/source-state.js')
  return isCurrent()
}
