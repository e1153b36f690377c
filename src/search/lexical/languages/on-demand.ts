/**
 * Loads the languages when the first analyzer needs one: their tables take a large part of a
 * server's start time, and most servers do not need them.
 */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { siblingModule } from '../../../runtime/sibling-module.ts'
import type * as Index from './index.ts'

type Languages = typeof Index

let loaded: Languages | undefined

export function languages(): Languages {
  loaded ??= createRequire(import.meta.url)(
    fileURLToPath(siblingModule('index', import.meta.url)),
  ) as Languages
  return loaded
}
