/** As much of JSON Schema as the description of the API needs. */
export interface Schema {
  readonly $ref?: string
  readonly type?: SchemaType | readonly SchemaType[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly deprecated?: boolean
  /** What a reader of the description may want to know of a command. */
  readonly 'x-does'?: string
  readonly 'x-on'?: readonly string[]
}

export type SchemaType =
  'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** A schema of components.ts, by its name. */
export function schemaReference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}
