/**
 * Definitions of analyzers: the name of a built-in one, a recipe as plain data, or a recipe that is
 * read from storage.
 *
 * Recipes contain lists of words, and a server has thousands of collections. The catalog therefore
 * keeps short recipes in memory, and a StoredAnalyzer for long ones.
 */
import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { fixedLimits } from '../../limits.ts'

/** A recipe as plain data. A member that is null counts as absent. */
export interface Recipe {
  readonly charFilters?: readonly GivenComponent[] | null
  readonly tokenizer?: GivenComponent | null
  readonly filters?: readonly GivenComponent[] | null
}

export interface GivenComponent {
  readonly name: string
  readonly args?: Readonly<Record<string, string>> | null
}

/** A recipe that is read on demand. Other threads receive only its key and memory. */
export class StoredAnalyzer {
  /** Equal for equivalent recipes. */
  readonly key: string
  /** Upper estimate of the bytes of the compiled analyzer. */
  readonly memory: number
  readonly #read: () => unknown

  /** `read` is called each time that the recipe is needed. */
  constructor(recipe: unknown, read: () => unknown) {
    this.key = keyOf(recipe)
    this.memory = memoryFor(recipe)
    this.#read = read
  }

  get recipe(): unknown {
    return this.#read()
  }

  /** Serializes the recipe itself. */
  toJSON(): unknown {
    return this.recipe
  }
}

/**
 * Returns the definition. If it is long, returns a StoredAnalyzer instead, which reads the
 * definition with the result of `makeRead`.
 */
export function storeIfLong(definition: unknown, makeRead: () => () => unknown): unknown {
  if (typeof definition !== 'object' || definition === null) return definition
  if (definition instanceof StoredAnalyzer) return definition
  const { length } = JSON.stringify(definition)
  return length <= fixedLimits.analyzerInlineLengthMax
    ? definition
    : new StoredAnalyzer(definition, makeRead())
}

/** Keeps a long definition compressed, for callers without synchronous storage. */
export function packIfLong(definition: unknown): unknown {
  return storeIfLong(definition, () => unpack(deflateRawSync(JSON.stringify(definition))))
}

/**
 * Reads a compressed definition. A separate function, so that the closure does not keep the
 * definition in memory.
 */
function unpack(packed: Buffer): () => unknown {
  return () => JSON.parse(inflateRawSync(packed).toString()) as unknown
}

/** The name or the recipe as plain data. */
export function recipeOf(definition: unknown): unknown {
  return definition instanceof StoredAnalyzer ? definition.recipe : definition
}

/**
 * The key of a definition. Equivalent definitions have the same key; names are case-insensitive.
 */
export function keyOf(definition: unknown): string {
  if (typeof definition === 'string') return definition.toLowerCase()
  if (definition instanceof StoredAnalyzer) return definition.key
  if (typeof definition !== 'object' || definition === null) return String(definition)
  let key = keys.get(definition)
  if (key === undefined) {
    const text = JSON.stringify(canonical(definition))
    keys.set(definition, (key = createHash('sha256').update(text).digest('base64')))
  }
  return key
}

/** Keys by definition. A definition is immutable, so its key is computed once. */
const keys = new WeakMap<object, string>()

/** Upper estimate of the bytes of a compiled analyzer, without reading its lists. */
export function memoryFor(definition: unknown): number {
  if (definition instanceof StoredAnalyzer) return definition.memory
  if (typeof definition === 'string') return builtInSize
  let size = builtInSize
  const { charFilters, tokenizer, filters } = definition as Recipe
  for (const { args } of [charFilters ?? [], tokenizer ?? [], filters ?? []].flat())
    for (const [name, value] of Object.entries(args ?? {}))
      size += value.length * (characterSizes[name] ?? characterSize)
  return size
}

/**
 * Bytes per character of patterns, which become programs, and of synonyms, which become a tree with
 * a branch for each word. A test compares estimates with V8's heap.
 */
const characterSizes: Readonly<Record<string, number>> = {
  pattern: 250,
  synonyms: 150,
}

/** Bytes per character of other arguments, such as lists of words. */
const characterSize = 50

/** Bytes of a built-in analyzer, without the tables of languages, which are shared. */
const builtInSize = 20_000

const recipeMembers = ['tokenizer', 'filters', 'charFilters'] as const

function canonical(recipe: Recipe): unknown {
  return recipeMembers.map((member) =>
    [recipe[member] ?? []]
      .flat()
      .map(({ name, args }: GivenComponent) => [
        name.toLowerCase(),
        Object.entries(args ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)),
      ]),
  )
}
