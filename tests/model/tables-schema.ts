/** Random schemas of tables: columns of all types with unusual names, keys and indexes. */
import type { Random } from './random.ts'
import {
  TableOracle,
  type Column,
  type Folding,
  type Index,
  type Part,
} from './tables-oracle.ts'
import {
  object,
  primitiveNames,
  Raw,
  type ColumnType,
  type ElementType,
  type Json,
  type UserType,
} from './tables-values.ts'

/** The schema features that a model may use. */
export interface Vocabulary {
  /** Names for columns and fields. */
  readonly names: readonly string[]
  /** Whether indexes may be on columns of user-defined types, and on any vector column. */
  readonly hasAnyIndex: boolean
  /** Whether sets may contain durations. Durations have no order. */
  readonly hasSetsOfDurations: boolean
  /** Whether every column can be dropped, and added again with another type. */
  readonly dropsAnyColumn: boolean
  /** Whether finds may run while an index is created or dropped. */
  readonly changesIndexesInUse: boolean
  /** Whether a find is always a single query, so that the rows of a partition come together. */
  readonly findsAtOnce: boolean
}

/**
 * Names for columns and fields. Some of them are names that the service may use internally, or that
 * are special in JavaScript.
 */
const names = [
  ...['id', '_id', 'part-key', '10', '2', 'a.b', 'a', 'b', 'A', 'x y', 'n~2', 'n', 'Ünï'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'c1',
    'c2',
    'c3k',
    'c4n',
    'c5v',
    '"q"',
    'doc',
  ],
  ...['a&.b', '[]', "o'k", '$', '\u00e9', 'key', 'inserted', 'text', 'vectors', 'search'],
].filter((name) => !name.startsWith('$'))

export const anyVocabulary: Vocabulary = {
  names,
  hasAnyIndex: true,
  hasSetsOfDurations: true,
  dropsAnyColumn: true,
  changesIndexesInUse: true,
  findsAtOnce: true,
}

/**
 * The features that a cluster and its driver support. docs/cassandra.md lists the missing features.
 */
export const clusterVocabulary: Vocabulary = {
  names: names.filter((name) => /^\w+$/.test(name) && name !== '__proto__'),
  hasAnyIndex: false,
  hasSetsOfDurations: false,
  dropsAnyColumn: false,
  changesIndexesInUse: false,
  findsAtOnce: false,
}

export function randomTable(
  random: Random,
  types: readonly UserType[],
  vocabulary: Vocabulary,
): TableOracle {
  const free = namesInTurn(random, vocabulary)
  const partitionBy = random.list(1, random.chance(0.6) ? 1 : 3, () =>
    newColumn(free, keyType(random, true)),
  )
  const sorted = random.list(0, random.pick([0, 1, 2, 3]), () =>
    newColumn(free, keyType(random, false)),
  )
  const others = random.list(3, 9, () =>
    newColumn(free, randomType(random, types, vocabulary)),
  )
  // Columns for searches by words and by vector.
  if (random.chance(0.7)) others.push(newColumn(free, { kind: 'one', of: 'text' }))
  if (random.chance(0.7)) others.push(newColumn(free, { kind: 'vector', dimension: 3 }))
  const partitionSort = sorted.map((column) => {
    return { column, direction: random.pick([1, -1] as const) }
  })
  const columns = shuffled([...partitionBy, ...sorted, ...others], random)
  return new TableOracle(columns, partitionBy, partitionSort)
}

/** A column with a new name: the table has no column of this name, and never had one. */
export function randomColumn(
  random: Random,
  table: TableOracle,
  types: readonly UserType[],
  vocabulary: Vocabulary,
): Column | undefined {
  const { names } = vocabulary
  const taken = new Set([...table.columns, ...table.dropped].map(({ name }) => name))
  const free = names.filter((name) => !taken.has(name))
  if (free.length === 0) return undefined
  return { name: random.pick(free), type: randomType(random, types, vocabulary) }
}

export function randomUserType(
  random: Random,
  name: string,
  vocabulary: Vocabulary,
): UserType {
  const free = namesInTurn(random, vocabulary)
  const fields = random.list(1, 4, () => ({
    name: free(),
    type: random.pick(primitiveNames),
  }))
  return { name, fields }
}

/** A name that no field of the type has. */
export function freeFieldName(
  random: Random,
  { fields }: UserType,
  { names }: Vocabulary,
): string {
  return random.pick(names.filter((name) => !fields.some((field) => field.name === name)))
}

export function randomType(
  random: Random,
  types: readonly UserType[],
  { hasSetsOfDurations }: Vocabulary,
): ColumnType {
  const kind = random.next()
  const element = (): ElementType =>
    types.length > 0 && random.chance(0.2)
      ? random.pick(types)
      : random.pick(primitiveNames)
  if (kind < 0.5) return { kind: 'one', of: random.pick(primitiveNames) }
  if (kind < 0.6) return { kind: 'list', of: element() }
  if (kind < 0.7) {
    const of = element()
    return { kind: !hasSetsOfDurations && hasDuration(of) ? 'list' : 'set', of }
  }
  if (kind < 0.85) return { kind: 'map', key: random.pick(ordered), of: element() }
  if (kind < 0.93) return { kind: 'vector', dimension: random.integer(1, 5) }
  return { kind: 'one', of: types.length > 0 ? random.pick(types) : 'text' }
}

function hasDuration(element: ElementType): boolean {
  if (typeof element === 'string') return element === 'duration'
  return element.fields.some(({ type }) => type === 'duration')
}

const ordered = primitiveNames.filter((name) => name !== 'duration')

function keyType(random: Random, isPartition: boolean): ColumnType {
  if (isPartition && random.chance(0.04)) return { kind: 'vector', dimension: 2 }
  return { kind: 'one', of: random.pick(ordered) }
}

function newColumn(free: () => string, type: ColumnType): Column {
  return { name: free(), type }
}

function namesInTurn(random: Random, { names }: Vocabulary): () => string {
  const left = shuffled(names, random)
  return () => left.pop()!
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items]
  return items.map(() => rest.splice(random.integer(0, rest.length - 1), 1)[0]!)
}

export function describeTable(table: TableOracle, random: Random): Json {
  const { columns, partitionBy, partitionSort } = table
  const sort = partitionSort.map(({ column, direction }) => {
    return [column.name, new Raw(direction)] as const
  })
  const isSimple = partitionBy.length === 1 && sort.length === 0 && random.chance(0.5)
  return object({
    columns: new Map(columns.map(({ name, type }) => [name, describeType(type, random)])),
    primaryKey: isSimple
      ? partitionBy[0]!.name
      : object({
          partitionBy: partitionBy.map(({ name }) => name),
          partitionSort: sort.length > 0 ? new Map(sort) : undefined,
        }),
  })
}

export function describeType(type: ColumnType, random: Random): Json {
  switch (type.kind) {
    case 'one':
      return describeElement(type.of, random)
    case 'list':
    case 'set':
      return object({ type: type.kind, valueType: describeElement(type.of, random) })
    case 'map':
      return object({
        type: 'map',
        keyType: describeElement(type.key, random),
        valueType: describeElement(type.of, random),
      })
    case 'vector':
      return object({ type: 'vector', dimension: new Raw(type.dimension) })
  }
}

function describeElement(type: ElementType, random: Random): Json {
  if (typeof type !== 'string') return object({ type: 'userDefined', udtName: type.name })
  return random.chance(0.5) ? type : object({ type })
}

/** An index that is possible, and that the table does not have yet. */
export function randomIndex(
  random: Random,
  table: TableOracle,
  name: string,
  { hasAnyIndex }: Vocabulary,
): Index | undefined {
  const searched = table.columns.filter(isSearched)
  const isPicky = searched.length > 0 && random.chance(0.45)
  const column = random.pick(isPicky ? searched : table.columns)
  if (table.partitionBy.length === 1 && table.partitionBy[0] === column) return undefined
  if (!hasAnyIndex && (isOfUserType(column) || isShortVector(column))) return undefined
  const index = indexOn(column, random, table.isKey(column), name)
  const isThere =
    index === undefined ||
    table.indexes.some(
      (other) =>
        other.column === column &&
        other.kind === index.kind &&
        (other.kind !== 'regular' || index.kind !== 'regular' || other.part === index.part),
    )
  return isThere ? undefined : index
}

/** Whether the values or elements of a column are of a user-defined type. */
export function isOfUserType({ type }: Column): boolean {
  return type.kind !== 'vector' && typeof type.of !== 'string'
}

function isShortVector({ type }: Column): boolean {
  return type.kind === 'vector' && type.dimension === 1
}

/** Whether a column can be searched by vector or by words. */
function isSearched({ type }: Column): boolean {
  return type.kind === 'vector' || (type.kind === 'one' && type.of === 'text')
}

function indexOn(
  column: Column,
  random: Random,
  isKey: boolean,
  name: string,
): Index | undefined {
  const { type } = column
  const regular = (part: Part, ...indexed: readonly ElementType[]): Index | undefined => {
    if (indexed.includes('blob') || indexed.includes('duration')) return undefined
    const base = { name, column, kind: 'regular', part } as const
    const [first, second] = indexed
    const isText = (first === 'text' || first === 'ascii') && second === undefined
    // Indexes do not change the meaning of filters on key columns.
    if (!isText || isKey || random.chance(0.3)) return base
    return { ...base, folding: random.pick(foldings) }
  }
  switch (type.kind) {
    case 'one':
      if (typeof type.of !== 'string') return undefined
      return (type.of === 'text' || type.of === 'ascii') && random.chance(0.5)
        ? { name, column, kind: 'text', analyzer: random.pick(['standard', 'whitespace']) }
        : regular('value', type.of)
    case 'list':
    case 'set':
      return regular('value', type.of)
    case 'map': {
      const part = random.pick<Part>(['value', 'keys', 'values'])
      if (part === 'value') return regular(part, type.key, type.of)
      return regular(part, part === 'keys' ? type.key : type.of)
    }
    case 'vector': {
      const metric = random.pick(['cosine', 'dot_product', 'euclidean'] as const)
      return { name, column, kind: 'vector', metric }
    }
  }
}

const foldings: readonly Folding[] = [
  { ascii: false, caseSensitive: false, normalize: false },
  { ascii: true, caseSensitive: false, normalize: true },
  { ascii: true, caseSensitive: true, normalize: true },
  { ascii: false, caseSensitive: false, normalize: true },
]

/** The command that creates an index. */
export function createIndex(index: Index): Json {
  const { name, column } = index
  switch (index.kind) {
    case 'regular': {
      const { part, folding } = index
      const named = part === 'value' ? column.name : new Map([[column.name, `$${part}`]])
      const options = folding && object({ ...folding })
      return object({
        createIndex: object({ name, definition: object({ column: named, options }) }),
      })
    }
    case 'vector': {
      const options = object({ metric: index.metric })
      const definition = object({ column: column.name, options })
      return object({ createVectorIndex: object({ name, definition }) })
    }
    case 'text': {
      const analyzer =
        index.analyzer === 'standard'
          ? 'standard'
          : object({ tokenizer: object({ name: 'whitespace' }) })
      const definition = object({ column: column.name, options: object({ analyzer }) })
      return object({ createTextIndex: object({ name, definition }) })
    }
  }
}
