/**
 * The languages, loaded when the first analyzer asks for one: their tables take a good part
 * of the time in which a server starts, and most servers need none of them.
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
