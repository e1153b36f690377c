/** Renders every error and warning with sample values: all sentences must be complete. */
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'node:test'
import ts from 'typescript'
import { catalog } from '../../src/errors/catalog.ts'
import type { CatalogEntry } from '../../src/errors/catalog-entry.ts'

interface Variable {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
}

/**
 * Reads the variables of each message and their types from the compiler. A message with several
 * reasons has one set of variables per reason.
 */
function readVariables(): ReadonlyMap<string, readonly (readonly Variable[])[]> {
  const file = fileURLToPath(new URL('../../src/errors/catalog.ts', import.meta.url))
  const program = ts.createProgram([file], {
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
  })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)!
  const typeOf = (symbol: ts.Symbol) => checker.getTypeOfSymbolAtLocation(symbol, source)
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!)
  const entries = typeOf(exported.find(({ name }) => name === 'catalog')!)
  const variableOf = (variable: ts.Symbol): Variable => ({
    name: variable.name,
    type: checker.typeToString(checker.getNonNullableType(typeOf(variable))),
    isOptional: (variable.flags & ts.SymbolFlags.Optional) !== 0,
  })
  return new Map(
    entries.getProperties().map((entry) => {
      const body = typeOf(typeOf(entry).getProperty('body')!)
      const [parameter] = body.getCallSignatures()[0]!.getParameters()
      if (parameter === undefined) return [entry.name, [[]]]
      const given = typeOf(parameter)
      const sets = given.isUnion() ? given.types : [given]
      return [entry.name, sets.map((set) => set.getProperties().map(variableOf))]
    }),
  )
}

/** Realistic samples for variables whose values change the wording of sentences. */
const typical: Readonly<Record<string, readonly string[]>> = {
  type: ['String', 'Number', 'Boolean', 'Array', 'Object', 'Null'],
  kind: ['table', 'collection', 'Index'],
  level: ['General Command', 'Keyspace Command', 'operation of alterTable'],
  unit: ['documents', 'rows'],
  operator: ['$inc', '$addToSet'],
  action: ['read', 'read the schema of'],
  what: ['The number of bytes of the string "a"'],
  where: ['the options of find', '$set'],
  expected: ['an Array'],
  message: ['It is not what it should be.'],
  problem: ['it is not what it should be'],
  reason: ['it is required'],
  hint: ['Send less'],
  note: ['', 'Use another.'],
}

function samplesOf({ name, type, isOptional }: Variable): readonly unknown[] {
  const absent = isOptional ? [undefined] : []
  if (name === 'reason' && type.startsWith('"')) return [JSON.parse(type)]
  switch (type) {
    case 'readonly string[]':
      // The list of headers in a message is never empty.
      if (name === 'headers') return [['first'], ['first', 'second']]
      return [['first'], ['first', 'second'], [], ...absent]
    case 'boolean':
      return [true, false, ...absent]
    case 'number':
    case 'string | number':
      return [20, 1, ...absent]
    default:
      return [...(typical[name] ?? [`<${name}>`]), ...absent]
  }
}

/**
 * Renders the entry with the first sample of every variable, and once for each further sample of
 * one variable.
 */
function render(entry: CatalogEntry, variables: readonly Variable[]): string[] {
  const body = entry.body as (variables: Record<string, unknown>) => string
  const usual = Object.fromEntries(
    variables.map((variable) => [variable.name, samplesOf(variable)[0]]),
  )
  const variations = variables.flatMap((variable) =>
    samplesOf(variable).map((sample) => ({ ...usual, [variable.name]: sample })),
  )
  return [...new Set([usual, ...variations].map(body))]
}

const mistakes: Readonly<Record<string, RegExp>> = {
  '"a" before a vowel': /\ba (?=[aeiou])(?!u(?:ser|uid|ni|rl))/i,
  '"an" before a consonant': /\ban (?=[bcdfgjklmnpqrstvwxyz])/i,
  'a plural after one':
    /(?<![.\d]|1 to )\b1 (?!(?:s|is|was|has|holds)\b)(?:[a-z]+ )?[a-z]+s\b(?! of\b)/,
  'two spaces': / {2}/,
  'two full stops': /\.\.(?!\.)/,
  'a space before a full stop': / [.,;:]/,
  'nothing in the place of something': /undefined|NaN|\[object|""/,
}

describe('every message of the catalog', () => {
  const variables = readVariables()

  test('has variables that this test finds in the source', () => {
    assert.deepEqual([...variables.keys()].toSorted(), Object.keys(catalog).toSorted())
  })

  for (const [name, entry] of Object.entries(catalog))
    test(`is a complete sentence: ${name}`, () => {
      const own = variables.get(name)!
      const messages = own.flatMap((set) => render(entry, set))
      for (const message of messages) {
        for (const [mistake, pattern] of Object.entries(mistakes))
          assert.doesNotMatch(message, pattern, `${mistake}: ${message}`)
        assert.match(message, /^["$<[{A-Z_a-z]/, message)
        // The text of a provider comes last and may end without a full stop.
        if (!message.endsWith('<text>')) assert.match(message, /\.$/, message)
      }
      assert.match(entry.title, /^(?:[$A-Z_]|[a-z]+[A-Z]).*[^.]$/, entry.title)
      if (process.env['SHOW'] !== undefined) console.log(messages.join('\n'))
    })
})
