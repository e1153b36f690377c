/** Schemas of command fields, generated from the parsers of the fields. */
import { isAlias, type Field, type Fields } from '../../commands/dispatch/fields.ts'
import type { Limits } from '../../limits.ts'
import { wordsFor } from './field-words.ts'
import { schemaReference, type Schema } from './schema.ts'

/** The fields of a command, or of an option at path `above`. */
export function describeFields(
  command: string,
  above: string,
  fields: Fields,
  limits: Limits,
): Schema {
  const known = Object.entries(fields).filter(([, field]) => !isAlias(field))
  const required = known.filter(([, field]) => field.takes.required).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      known.map(([name, field]) => [
        name,
        describeField(command, above + name, field, limits),
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function describeField(
  command: string,
  path: string,
  { takes }: Field<unknown>,
  limits: Limits,
): Schema {
  const words = wordsFor(command, path)
  const described = words && { description: words.says }
  if (words?.schema !== undefined) return { ...schemaReference(words.schema), ...described }
  switch (takes.kind) {
    case 'anything':
      return { ...described }
    case 'object':
      return { type: 'object', ...described }
    case 'text':
      return { type: 'string', ...(takes.required && { minLength: 1 }), ...described }
    case 'name':
      return {
        type: 'string',
        pattern: '^\\w+$',
        minLength: 1,
        maxLength: takes.lengthMax(limits),
        ...described,
      }
    case 'flag':
      return { type: 'boolean', default: takes.byDefault, ...described }
    case 'choice':
      return {
        type: 'string',
        enum: takes.of,
        ...(takes.byDefault !== undefined && { default: takes.byDefault }),
        ...described,
      }
    case 'integer':
      return { type: 'integer', minimum: takes.min, ...described }
    case 'number':
      return { type: 'number', minimum: takes.min, maximum: takes.max, ...described }
    case 'list':
      return {
        type: 'array',
        items: schemaReference('Document'),
        minItems: 1,
        maxItems: takes.max(limits),
        ...described,
      }
    case 'options': {
      const none = Object.keys(takes.fields).length === 0
      const options = describeFields(command, `${path}.`, takes.fields, limits)
      return {
        ...options,
        ...described,
        ...(none && {
          description: 'The command has no options. Leave this out.',
          maxProperties: 0,
        }),
      }
    }
  }
}
