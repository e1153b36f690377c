/** The path that a command belongs to, for the error that says it came by another. */
import type { Command, CommandLevel } from './define.ts'
import { commandsAt } from './registry.ts'

/** What a path names; empty where it names less. */
export interface PathNames {
  /** What comes before the names. */
  readonly root: string
  readonly keyspace: string
  readonly target: string
}

/** The path that takes the command, with the names of the path it was sent to. */
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
