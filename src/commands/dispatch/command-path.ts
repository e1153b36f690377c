/** Finds the path that accepts a command. The error for a command on a wrong path contains it. */
import type { Command, CommandLevel } from './define.ts'
import { commandsAt } from './registry.ts'

/** Parts of a request's path; missing names are empty. */
export interface PathNames {
  /** Prefix of the path, before the names: /v1, or /databases/<id>/v1. */
  readonly root: string
  readonly keyspace: string
  readonly target: string
}

/** The path that accepts the command, with the names from the path of the request. */
export function pathOf(command: string, sentTo: PathNames): string | undefined {
  for (const level of ['general', 'keyspace', 'target'] satisfies CommandLevel[]) {
    const found = commandsAt[level].get(command)
    if (found !== undefined) return pathTo(found, sentTo)
  }
  return undefined
}

function pathTo(command: Command, { root, keyspace, target }: PathNames): string {
  const inKeyspace = `${root}/${keyspace === '' ? '<keyspace>' : encodeURIComponent(keyspace)}`
  switch (command.level) {
    case 'general':
      return root
    case 'keyspace':
      return inKeyspace
    case 'target':
      if (target !== '') return `${inKeyspace}/${encodeURIComponent(target)}`
      if (command.table === undefined) return `${inKeyspace}/<collection>`
      if (command.collection === undefined) return `${inKeyspace}/<table>`
      return `${inKeyspace}/<collection or table>`
  }
}
