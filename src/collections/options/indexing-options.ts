/** The `indexing` option: paths that are indexed, for filters and sorts. */
import type { IndexingOptions } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import { parsePath } from '../../language/values/path.ts'
import {
  refuseUnknownKeys,
  sectionIn,
  textsIn,
  type Section,
} from '../../options/option-section.ts'

export interface GivenIndexing {
  readonly allow: readonly string[] | undefined
  readonly deny: readonly string[] | undefined
}

export function readIndexing(options: Section): GivenIndexing | undefined {
  const indexing = sectionIn(options, 'indexing')
  if (indexing === undefined) return undefined
  refuseUnknownKeys(indexing, 'INVALID_CREATE_COLLECTION_FIELD', ['allow', 'deny'])
  return { allow: textsIn(indexing, 'allow'), deny: textsIn(indexing, 'deny') }
}

export function resolveIndexing({ allow, deny }: GivenIndexing): IndexingOptions {
  if (allow !== undefined && deny !== undefined) refuse({ reason: 'both' })
  if (allow !== undefined) return { allow: checked('allow', allow) }
  if (deny !== undefined) return { deny: checked('deny', deny) }
  refuse({ reason: 'neither' })
}

function checked(list: string, paths: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  for (const path of paths) {
    if (seen.has(path)) refuse({ reason: 'twice', list, path })
    seen.add(path)
    if (path.startsWith('$') && path !== '$vector') refuse({ reason: 'dollar', list, path })
    const parsed = parsePath(path)
    if ('problem' in parsed) refuse({ reason: 'path', list, path, problem: parsed.problem })
  }
  return paths
}

function refuse(...why: ErrorVariables<'INVALID_INDEXING_DEFINITION'>): never {
  throw apiError('INVALID_INDEXING_DEFINITION', ...why)
}
