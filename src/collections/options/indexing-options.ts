/** The `indexing` option: which paths can be filtered and sorted on. */
import type { IndexingOptions } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
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
  if (allow !== undefined && deny !== undefined)
    refuse('indexing has both "allow" and "deny". Send one of them')
  if (allow !== undefined) return { allow: checked('allow', allow) }
  if (deny !== undefined) return { deny: checked('deny', deny) }
  refuse('indexing has neither "allow" nor "deny". Send one of them, or leave it out')
}

function checked(list: string, paths: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  for (const path of paths) {
    if (seen.has(path)) refuse(`indexing.${list} has "${path}" more than once`)
    seen.add(path)
    if (path.startsWith('$') && path !== '$vector')
      refuse(
        `indexing.${list} has "${path}", but a path cannot start with $ unless it is $vector`,
      )
    const parsed = parsePath(path)
    if ('problem' in parsed)
      refuse(`indexing.${list} has "${path}", which is not a path: ${parsed.problem}`)
  }
  return paths
}

function refuse(problem: string): never {
  throw apiError('INVALID_INDEXING_DEFINITION', { problem })
}
