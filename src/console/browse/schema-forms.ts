/**
 * Values of the forms for schemas, and their conversion to commands. All functions are pure, so
 * that tests need no DOM.
 */
import { parseJson } from '../json/parse-json.ts'
import type { Printable } from '../json/value.ts'

/** The embedding service of a collection or column. */
export interface ServiceForm {
  readonly provider: string
  readonly modelName: string
  /** Parameters of the provider. Empty ones are omitted from the command. */
  readonly parameters: Readonly<Record<string, string | boolean>>
  /** The name of a provider key in the server's settings. */
  readonly providerKey: string
}

export const noService: ServiceForm = {
  provider: '',
  modelName: '',
  parameters: {},
  providerKey: '',
}

export interface CollectionForm {
  readonly name: string
  readonly defaultId: '' | 'uuid' | 'uuidv6' | 'uuidv7' | 'objectId'
  readonly vector: 'none' | 'own' | 'service'
  readonly dimension: string
  readonly metric: string
  readonly sourceModel: string
  readonly service: ServiceForm
  readonly indexing: 'all' | 'allow' | 'deny'
  /** Paths of fields, one per line. */
  readonly paths: string
  readonly lexical: 'default' | 'on' | 'off'
  readonly analyzer: string
  readonly rerank: 'default' | 'on' | 'off'
  readonly reranker: { readonly provider: string; readonly modelName: string }
}

export const emptyCollection: CollectionForm = {
  name: '',
  defaultId: '',
  vector: 'none',
  dimension: '',
  metric: '',
  sourceModel: '',
  service: noService,
  indexing: 'all',
  paths: '',
  lexical: 'default',
  analyzer: 'standard',
  rerank: 'default',
  reranker: { provider: '', modelName: '' },
}

/** The fields of createCollection. Options with their default value are omitted. */
export function createCollectionFields(form: CollectionForm): Printable {
  const options = {
    defaultId: form.defaultId === '' ? undefined : { type: form.defaultId },
    vector: vectorOf(form),
    indexing:
      form.indexing === 'all' ? undefined : { [form.indexing]: linesOf(form.paths) },
    lexical:
      form.lexical === 'default'
        ? undefined
        : form.lexical === 'off'
          ? { enabled: false }
          : { enabled: true, analyzer: analyzerOf(form.analyzer) },
    rerank:
      form.rerank === 'default'
        ? undefined
        : form.rerank === 'off'
          ? { enabled: false }
          : {
              enabled: true,
              service: form.reranker.provider === '' ? undefined : form.reranker,
            },
  }
  const isPlain = Object.values(options).every((option) => option === undefined)
  return { name: form.name, options: isPlain ? undefined : options }
}

function vectorOf(form: CollectionForm): Printable {
  if (form.vector === 'none') return undefined
  return {
    dimension: numberOf(form.dimension),
    metric: textOf(form.metric),
    sourceModel: textOf(form.sourceModel),
    service: form.vector === 'service' ? serviceOf(form.service) : undefined,
  }
}

function serviceOf({
  provider,
  modelName,
  parameters,
  providerKey,
}: ServiceForm): Printable {
  const given = Object.entries(parameters).filter(([, value]) => value !== '')
  return {
    provider,
    modelName: textOf(modelName),
    parameters: given.length === 0 ? undefined : Object.fromEntries(given),
    authentication: providerKey === '' ? undefined : { providerKey },
  }
}

/** The name of a built-in analyzer, or a JSON object that defines one. */
function analyzerOf(text: string): Printable {
  return text.trim().startsWith('{') ? parseJson(text) : text
}

function textOf(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim()
}

function numberOf(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text)
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export const scalarTypes = [
  ...[
    'ascii',
    'bigint',
    'blob',
    'boolean',
    'date',
    'decimal',
    'double',
    'duration',
    'float',
  ],
  ...['inet', 'int', 'smallint', 'text', 'time', 'timestamp', 'tinyint', 'uuid', 'varint'],
] as const

export const columnTypes = [
  ...scalarTypes,
  'list',
  'set',
  'map',
  'vector',
  'userDefined',
] as const

export type ColumnKind = (typeof columnTypes)[number]

export interface ColumnForm {
  readonly id: number
  readonly name: string
  readonly type: ColumnKind
  readonly keyType: string
  /** Value type of a list, set or map; `type:<name>` for the user-defined type `name`. */
  readonly valueType: string
  readonly dimension: string
  readonly service: ServiceForm
  readonly udtName: string
  readonly key: 'none' | 'partition' | 'ascending' | 'descending'
}

export function emptyColumn(id: number): ColumnForm {
  return {
    id,
    name: '',
    type: 'text',
    keyType: 'text',
    valueType: 'text',
    dimension: '',
    service: noService,
    udtName: '',
    key: 'none',
  }
}

export interface TableForm {
  readonly name: string
  readonly columns: readonly ColumnForm[]
  readonly ifNotExists: boolean
}

export function createTableFields({ name, columns, ifNotExists }: TableForm): Printable {
  const partitionBy = columns
    .filter(({ key }) => key === 'partition')
    .map((column) => column.name)
  const sorted = columns.filter(({ key }) => key === 'ascending' || key === 'descending')
  const [only] = partitionBy
  const isSimple = partitionBy.length === 1 && sorted.length === 0
  const partitionSort = new Map(
    sorted.map((column): [string, number] => [
      column.name,
      column.key === 'ascending' ? 1 : -1,
    ]),
  )
  return {
    name,
    definition: {
      columns: columnFields(columns),
      primaryKey: isSimple ? only : { partitionBy, partitionSort },
    },
    options: ifNotExists ? { ifNotExists } : undefined,
  }
}

/** The columns of a definition. A Map, because a column may have any name, such as `__proto__`. */
export function columnFields(
  columns: readonly ColumnForm[],
): ReadonlyMap<string, Printable> {
  return new Map(columns.map((column) => [column.name, columnType(column)]))
}

function columnType(column: ColumnForm): Printable {
  const { type } = column
  switch (type) {
    case 'list':
    case 'set':
      return { type, valueType: partType(column.valueType) }
    case 'map':
      return { type, keyType: column.keyType, valueType: partType(column.valueType) }
    case 'vector':
      return {
        type,
        dimension: numberOf(column.dimension),
        service: column.service.provider === '' ? undefined : serviceOf(column.service),
      }
    case 'userDefined':
      return { type, udtName: column.udtName }
    default:
      return type
  }
}

/** The fields of alterType: renames and additions. */
export function alterTypeFields(
  name: string,
  renamed: ReadonlyMap<string, string>,
  added: readonly ColumnForm[],
): Printable {
  return {
    name,
    rename: renamed.size === 0 ? undefined : { fields: renamed },
    add: added.length === 0 ? undefined : { fields: columnFields(added) },
  }
}

/** The operation of alterTable that sets the embedding service of a vector column. */
export function addVectorizeFields(column: string, service: ServiceForm): Printable {
  return {
    operation: { addVectorize: { columns: new Map([[column, serviceOf(service)]]) } },
  }
}

const ownType = 'type:'

function partType(type: string): Printable {
  if (!type.startsWith(ownType)) return type
  return { type: 'userDefined', udtName: type.slice(ownType.length) }
}

/** The choice in the form for a user-defined type as the value type of a list, set or map. */
export function ownTypeChoice(name: string): string {
  return ownType + name
}

export interface IndexForm {
  readonly kind: 'regular' | 'vector' | 'text'
  readonly name: string
  readonly column: string
  /** The indexed part of a map. */
  readonly part: 'entries' | '$keys' | '$values'
  readonly ascii: boolean
  readonly caseSensitive: boolean
  readonly normalize: boolean
  readonly metric: string
  readonly sourceModel: string
  readonly analyzer: string
  readonly ifNotExists: boolean
}

export const emptyIndex: IndexForm = {
  kind: 'regular',
  name: '',
  column: '',
  part: 'entries',
  ascii: false,
  caseSensitive: true,
  normalize: false,
  metric: '',
  sourceModel: '',
  analyzer: 'standard',
  ifNotExists: false,
}

export const indexCommands = {
  regular: 'createIndex',
  vector: 'createVectorIndex',
  text: 'createTextIndex',
} as const

export function createIndexFields(form: IndexForm): Printable {
  return {
    name: form.name,
    definition: {
      column: form.part === 'entries' ? form.column : new Map([[form.column, form.part]]),
      options: indexOptions(form),
    },
    options: form.ifNotExists ? { ifNotExists: true } : undefined,
  }
}

function indexOptions(form: IndexForm): Printable {
  const options: Readonly<Record<string, Printable>> = {
    regular: {
      ascii: form.ascii ? true : undefined,
      caseSensitive: form.caseSensitive ? undefined : false,
      normalize: form.normalize ? true : undefined,
    },
    vector: { metric: textOf(form.metric), sourceModel: textOf(form.sourceModel) },
    text: { analyzer: analyzerOf(form.analyzer) },
  }[form.kind]
  return Object.values(options).every((option) => option === undefined)
    ? undefined
    : options
}
