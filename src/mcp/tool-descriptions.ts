/**
 * Descriptions of tools for assistants. Texts, schemas and examples come from the OpenAPI
 * description. Referenced schemas are inlined, because many models do not resolve references.
 */
import { clauseSchemas } from '../http/openapi/clause-schemas.ts'
import { wordsOfCommands, type CommandExample } from '../http/openapi/command-words.ts'
import { describeFields } from '../http/openapi/field-schemas.ts'
import type { Schema } from '../http/openapi/schema.ts'
import type { Limits } from '../limits.ts'
import { toolNotes } from './tool-notes.ts'
import { tools, type Tool } from './tools.ts'

export interface ToolDescription {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Schema
  readonly annotations: ToolHints
}

interface ToolHints {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint: boolean
}

export function describeTools(limits: Limits): ToolDescription[] {
  const clauses = clauseSchemas(limits)
  return Array.from(tools.values(), (tool) => describeTool(tool, clauses, limits))
}

type Schemas = Readonly<Record<string, Schema>>

function describeTool(tool: Tool, clauses: Schemas, limits: Limits): ToolDescription {
  const { name, command } = tool
  const { says, examples } = wordsOfCommands[command.level][name]!
  const note = toolNotes[name]
  const title = titleOf(name)
  return {
    name,
    title,
    description: note === undefined ? says : `${says} ${note}`,
    inputSchema: {
      ...schemaOf(tool, clauses, limits),
      examples: examples
        .slice(0, examplesMax)
        .map((example) => argumentsFor(tool, example)),
    },
    annotations: { title, ...hintsOf(tool), openWorldHint: false },
  }
}

/** The title of a tool: "Find one and update" for findOneAndUpdate. */
function titleOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words[0]!.toUpperCase() + words.slice(1)
}

/**
 * Hints about the effect of a tool. Inserting counts as destructive, because it may overwrite a
 * row; creating does not.
 */
function hintsOf({
  name,
  command: { does },
}: Tool): Omit<ToolHints, 'title' | 'openWorldHint'> {
  if (does === 'read' || does === 'describe') return { readOnlyHint: true }
  const makesNew = name.startsWith('create')
  return {
    readOnlyHint: false,
    destructiveHint: !makesNew,
    idempotentHint: does === 'create' || does === 'drop',
  }
}

function schemaOf(tool: Tool, clauses: Schemas, limits: Limits): Schema {
  const { name, command, path, nameArgument } = tool
  const { properties = {}, required = [] } = describeFields(
    name,
    '',
    command.fields,
    limits,
  )
  const { name: ownName, ...fields } = properties
  const hasOptions = fields['options']?.maxProperties !== 0
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(path.map((argument) => [argument, pathSchema(argument, tool)])),
      ...(nameArgument !== undefined && { [nameArgument]: writeOut(ownName!, clauses) }),
      ...Object.fromEntries(
        Object.entries(fields)
          .filter(([field]) => field !== 'options' || hasOptions)
          .map(([field, schema]) => [field, writeOut(schema, clauses)]),
      ),
    },
    required: [
      ...path,
      ...required.map((field) => (field === 'name' ? nameArgument! : field)),
    ],
    additionalProperties: false,
  }
}

function pathSchema(argument: Tool['path'][number], { command }: Tool): Schema {
  const isBoth =
    command.level === 'target' &&
    command.collection !== undefined &&
    command.table !== undefined
  const says = {
    keyspace: 'The keyspace; findKeyspaces lists them.',
    collection: isBoth
      ? 'The collection or table; findCollections and listTables list them.'
      : 'The collection; findCollections lists them.',
    table: 'The table; listTables lists them.',
  }
  return { type: 'string', minLength: 1, description: says[argument] }
}

/** The schema with all references inlined. */
function writeOut(schema: Schema, clauses: Schemas): Schema {
  const { $ref, ...own } = schema
  if ($ref !== undefined) {
    const clause = writeOut(clauses[$ref.split('/').at(-1)!]!, clauses)
    const says = [own.description, clause.description].filter((text) => text !== undefined)
    return { ...clause, ...own, ...(says.length > 0 && { description: says.join(' ') }) }
  }
  const { properties, items, oneOf, additionalProperties } = own
  return {
    ...own,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, of]) => [name, writeOut(of, clauses)]),
      ),
    }),
    ...(items !== undefined && { items: writeOut(items, clauses) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map((one) => writeOut(one, clauses)) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: writeOut(additionalProperties, clauses),
    }),
  }
}

/**
 * Maximum number of examples per tool. Examples cost tokens in every conversation that loads the
 * tools.
 */
const examplesMax = 2

/** An example of a command as the arguments of its tool. */
export function argumentsFor(
  { path, nameArgument }: Tool,
  { path: sentTo, fields }: CommandExample,
): Record<string, unknown> {
  const [keyspace, target] = sentTo.split('/').slice(2)
  const { name, ...others } = fields
  return {
    ...Object.fromEntries(
      path.map((argument) => [argument, argument === 'keyspace' ? keyspace : target]),
    ),
    ...(name !== undefined && { [nameArgument!]: name }),
    ...others,
  }
}
