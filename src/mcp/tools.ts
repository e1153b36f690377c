/**
 * Commands as tools: every command of the registry, except deprecated names.
 *
 * The arguments of a tool are the fields of its command and the names in the command's path. If a
 * command name exists at two levels, the tool is the command of the level that `levels` lists
 * first.
 */
import type { ResourceKind } from '../auth/principal.ts'
import type { Command, CommandLevel } from '../commands/dispatch/define.ts'
import { commandsAt, deprecated } from '../commands/dispatch/registry.ts'
import { apiError } from '../errors/api-error.ts'
import type { CommandPlace } from '../http/protocol.ts'
import { printJson } from '../json/print.ts'
import type { JsonObject, Value } from '../json/value.ts'

export interface Tool {
  readonly name: string
  readonly command: Command
  /** The arguments that form the path of the command, in order. */
  readonly path: readonly ('keyspace' | 'collection' | 'table')[]
  /**
   * The argument that sets the command's field `name`; undefined: the command has no such field.
   */
  readonly nameArgument: string | undefined
}

export const levels = [
  'general',
  'keyspace',
  'target',
] as const satisfies readonly CommandLevel[]

/** Tools by name, in the order of `levels` and of the registry. */
export const tools: ReadonlyMap<string, Tool> = makeTools()

function makeTools(): Map<string, Tool> {
  const made = new Map<string, Tool>()
  for (const level of levels)
    for (const [name, command] of commandsAt[level])
      if (!deprecated.has(name) && !made.has(name)) made.set(name, toolOf(name, command))
  return made
}

function toolOf(name: string, command: Command): Tool {
  const nameArgument = 'name' in command.fields ? nameArgumentOf(name, command) : undefined
  return { name, command, path: pathOf(command), nameArgument }
}

function pathOf(command: Command): Tool['path'] {
  if (command.level === 'general') return []
  if (command.level === 'keyspace') return ['keyspace']
  return ['keyspace', command.collection === undefined ? 'table' : 'collection']
}

/**
 * Name of the argument for the field `name`. Next to the name of a keyspace or table, an argument
 * "name" would be ambiguous.
 */
function nameArgumentOf(name: string, { level }: Command): string {
  if (level === 'target') return 'indexName'
  if (level === 'general') return 'name'
  return /(?:Collection|Table)$/.exec(name)?.[0].toLowerCase() ?? 'name'
}

/** The kind of resource that a command acts on. */
export function resourceKindOf({ level, onNamed }: Command): ResourceKind {
  if (level === 'general') return onNamed === true ? 'keyspace' : 'server'
  return level === 'target' || onNamed === true ? 'target' : 'keyspace'
}

/** The command of a call; throws an ApiError when an argument is missing. */
export function commandOf(
  tool: Tool,
  given: JsonObject,
): { readonly place: CommandPlace; readonly fields: JsonObject } {
  const { name, command, nameArgument } = tool
  const known = argumentsOf(tool)
  for (const field of given.keys())
    if (!known.includes(field))
      throw apiError('COMMAND_FIELD_UNKNOWN', { field, where: `tool ${name}`, known })
  const fields = new Map(given)
  const [keyspace = '', target = ''] = tool.path.map((argument) => {
    fields.delete(argument)
    return nameIn(given.get(argument), argument)
  })
  if (nameArgument !== undefined && nameArgument !== 'name') {
    const named = fields.get(nameArgument)
    fields.delete(nameArgument)
    fields.set('name', nameIn(named, nameArgument))
  }
  return { place: { level: command.level, keyspace, target }, fields }
}

function nameIn(value: Value | undefined, argument: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: argument,
    value: value === undefined ? 'absent' : printJson(value).slice(0, 100),
    reason: 'it must be a string that is not empty',
  })
}

/** Names of a tool's arguments. */
function argumentsOf({ path, nameArgument, command }: Tool): string[] {
  const fields = Object.keys(command.fields).filter((field) => field !== 'name')
  return [...path, ...(nameArgument === undefined ? [] : [nameArgument]), ...fields]
}
