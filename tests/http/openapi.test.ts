/**
 * The OpenAPI description: its validity, its agreement with the server, and how the server returns
 * it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { primitiveNames } from '../../src/language/columns/column-type.ts'
import { isAlias, type Fields } from '../../src/commands/dispatch/fields.ts'
import { commandsAt } from '../../src/commands/dispatch/registry.ts'
import { wordsOfCommands } from '../../src/http/openapi/command-words.ts'
import {
  describeApi,
  type ApiDescription,
  type ExampleDescription,
} from '../../src/http/openapi/describe-api.ts'
import { wordsFor, wordsOfFields } from '../../src/http/openapi/field-words.ts'
import type { Schema } from '../../src/http/openapi/schema.ts'
import { catalog } from '../../src/errors/catalog.ts'
import type { CatalogEntry } from '../../src/errors/catalog-entry.ts'
import { defaultLimits } from '../../src/limits.ts'
import { metrics, sourceModels } from '../../src/options/vector-choices.ts'
import { LetterModels } from '../commands/letter-models.ts'
import { startServer, type TestServer } from '../harness.ts'

const api = describeApi(defaultLimits, '1.2.3')
const levels = ['general', 'keyspace', 'target'] as const

/** All examples, in the order of the description. */
const examples: readonly (ExampleDescription & { name: string })[] = Object.values(
  api.paths,
).flatMap(({ post }) =>
  Object.entries(post.requestBody.content['application/json'].examples).map(
    ([name, example]) => ({ name, ...example }),
  ),
)

describe('the texts of the OpenAPI description', () => {
  test('cover every command and nothing else', () => {
    for (const level of levels)
      assert.deepEqual(
        Object.keys(wordsOfCommands[level]).toSorted(),
        [...commandsAt[level].keys()].toSorted(),
        level,
      )
  })

  test('cover every field and nothing else', () => {
    const used = new Set<unknown>()
    const visit = (command: string, fields: Fields, above: string) => {
      for (const [name, field] of Object.entries(fields)) {
        if (isAlias(field)) continue
        const words = wordsFor(command, above + name)
        assert(words !== undefined, `${command} has no words for ${above}${name}`)
        used.add(words)
        if (field.takes.kind === 'options')
          visit(command, field.takes.fields, `${above}${name}.`)
      }
    }
    for (const level of levels)
      for (const [name, { fields }] of commandsAt[level]) visit(name, fields, '')
    const unused = Object.entries(wordsOfFields).filter(([, words]) => !used.has(words))
    assert.deepEqual(unused, [])
  })

  test('are single lines that end with a period', () => {
    const all = [
      ...levels.flatMap((level) => Object.values(wordsOfCommands[level])),
      ...Object.values(wordsOfFields),
    ]
    for (const { says } of all) assert.match(says, /^[A-Z].{1,110}\.$/)
  })
})

describe('the OpenAPI description', () => {
  test('has the members that OpenAPI requires', () => {
    assert.equal(api.openapi, '3.1.0')
    assert.equal(api.info['version'], '1.2.3')
    assert.deepEqual(Object.keys(api.paths), [
      '/v1',
      '/v1/{keyspace}',
      '/v1/{keyspace}/{name}',
    ])
    assert.deepEqual(
      api.servers.map(({ url }) => url),
      ['/', '/api/json'],
    )
    const ids = new Set<string>()
    for (const [path, { parameters, post }] of Object.entries(api.paths)) {
      ids.add(post.operationId)
      const inPath = parameters
        .map(({ $ref }) => resolve($ref) as { name: string; in: string; required?: true })
        .filter((parameter) => parameter.in === 'path')
      assert(inPath.every(({ required }) => required))
      assert.deepEqual(
        inPath.map(({ name }) => name),
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      )
      assert.deepEqual(Object.keys(post.responses), [
        ...['200', '400', '401', '404', '405', '408', '413', '415', '429', '431', '503'],
      ])
      for (const { $ref } of Object.values(post.responses)) {
        const { description } = resolve($ref) as { description: string }
        assert(description.length > 0)
      }
    }
    assert.equal(ids.size, 3)
    assert.deepEqual(api.security, [{ Token: [] }])
    assert.deepEqual(Object.keys(api.components.securitySchemes), ['Token'])
  })

  test('contains every HTTP status of the errors', () => {
    const [path] = Object.values(api.paths)
    for (const [code, { status }] of Object.entries<CatalogEntry>(catalog))
      if (status !== undefined) assert(String(status) in path!.post.responses, code)
  })

  test('has no dangling references and no unused schemas', () => {
    const referred = new Set<string>()
    visitAll(api, (node) => {
      const { $ref } = node
      if (typeof $ref !== 'string') return
      referred.add($ref)
      assert(resolve($ref) !== undefined, $ref)
    })
    const { securitySchemes, ...components } = api.components
    assert(securitySchemes)
    const had = Object.entries(components).flatMap(([kind, members]) =>
      Object.keys(members).map((name) => `#/components/${kind}/${name}`),
    )
    assert.deepEqual(had.toSorted(), [...referred].toSorted())
  })

  test('uses only keywords of JSON Schema that these tests can check', () => {
    for (const [name, schema] of Object.entries(api.components.schemas))
      visitSchema(schema, (part) => {
        for (const key of Object.keys(part)) assert(knownKeys.has(key), `${name}: ${key}`)
        for (const needed of part.required ?? [])
          assert(part.properties?.[needed] !== undefined, `${name} lacks ${needed}`)
        if (part.pattern !== undefined) new RegExp(part.pattern, 'u')
        if (part.default !== undefined) assert.deepEqual(problems(part.default, part), [])
        for (const example of part.examples ?? [])
          assert.deepEqual(problems(example, part), [])
      })
  })

  test('lists all allowed values of a field', () => {
    const { Metric, SourceModel, PrimitiveType } = api.components.schemas
    assert.deepEqual(Metric!.enum, metrics)
    assert.deepEqual(SourceModel!.enum, sourceModels)
    const old = ['counter', 'timeuuid']
    assert.deepEqual(
      PrimitiveType!.enum,
      primitiveNames.filter((name) => !old.includes(name)),
    )
  })

  test('states defaults and bounds of this server', () => {
    const limits = { ...defaultLimits, insertManyMax: 7, nameLengthMax: 9 }
    const { schemas } = describeApi(limits, '1').components
    const fieldsOf = (command: string) =>
      schemas[`${command}Command`]!.properties![command]!
    assert.equal(fieldsOf('insertMany').properties!['documents']!.maxItems, 7)
    assert.equal(fieldsOf('createTable').properties!['name']!.maxLength, 9)
    assert.deepEqual(fieldsOf('createTable').required, ['name', 'definition'])
    const options = fieldsOf('findOneAndUpdate').properties!['options']!.properties!
    assert.deepEqual(options['returnDocument']!.enum, ['before', 'after'])
    assert.equal(options['returnDocument']!.default, 'before')
    assert.equal(options['upsert']!.default, false)
    assert.equal(fieldsOf('find').properties!['options']!.properties!['skip']!.minimum, 0)
    assert(!('pagingState' in fieldsOf('find').properties!['options']!.properties!))
    assert.equal(schemas['createNamespaceCommand']!.deprecated, true)
  })

  test('has an example of every command, and each matches exactly one command', () => {
    for (const level of levels)
      for (const [name, { examples: given }] of Object.entries(wordsOfCommands[level]))
        assert(given.length > 0, name)
    for (const { post } of Object.values(api.paths)) {
      const { schema, examples: given } = post.requestBody.content['application/json']
      for (const [name, { value }] of Object.entries(given)) {
        assert.deepEqual(problems(value, schema), [], name)
        assert.deepEqual(Object.keys(value), [name.replace(/-\d+$/, '')])
      }
    }
  })

  test('has schemas that reject invalid requests', () => {
    const { schema } =
      api.paths['/v1/{keyspace}/{name}']!.post.requestBody.content['application/json']
    for (const wrong of [
      {},
      { find: {}, findOne: {} },
      { seek: {} },
      { find: { filters: {} } },
      { find: { options: { limit: 0 } } },
      { find: { options: { limit: 'ten' } } },
      { insertMany: { documents: [] } },
      { insertMany: {} },
      { countDocuments: { options: { limit: 1 } } },
      { findOneAndUpdate: { update: {}, options: { returnDocument: 'now' } } },
    ])
      assert.notDeepEqual(problems(wrong, schema), [], JSON.stringify(wrong))
  })
})

describe('GET /api/json/openapi', () => {
  let models: LetterModels
  let server: TestServer
  before(async () => {
    models = await LetterModels.start()
    server = await startServer({ durable: false, providers: models.settings })
  })
  after(async () => {
    await server.close()
    await models.close()
  })

  const path = '/api/json/openapi'

  test('returns the description without a token', async () => {
    const answer = await server.send(path, { method: 'GET' })
    assert.equal(answer.http, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json')
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    const served = JSON.parse(answer.text) as ApiDescription
    assert.deepEqual({ ...served, info: {} }, { ...api, info: {} })
    assert.match(String(served.info['version']), /^\d+\.\d+\.\d+/)
  })

  test('answers 304 for a matching ETag', async () => {
    const first = await server.send(path, { method: 'GET' })
    const tag = first.headers.get('etag')!
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await server.send(path, { headers: { 'If-None-Match': known } })
      assert.equal(again.http, 304, known)
      assert.equal(again.text, '')
      assert.equal(again.headers.get('etag'), tag)
    }
    const other = await server.send(path, { headers: { 'If-None-Match': '"other"' } })
    assert.equal(other.http, 200)
  })

  test('answers HEAD without a body', async () => {
    const { text } = await server.send(path, {})
    const answer = await server.send(path, { method: 'HEAD' })
    assert.equal(answer.http, 200)
    assert.equal(answer.text, '')
    assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(text)))
  })

  test('rejects POST', async () => {
    const answer = await server.send(path, { method: 'POST', body: '{}' })
    assert.equal(answer.http, 404)
  })

  test('has examples that succeed when they are sent in order', async () => {
    const reply = api.components.schemas['Reply']!
    for (const { name, value, 'x-path': to } of examples) {
      const answer = await server.command(to.slice('/v1'.length), value)
      assert.equal(answer.http, 200, name)
      assert.deepEqual(answer.body.errors, undefined, `${name}: ${answer.text}`)
      assert.deepEqual(problems(answer.body, reply), [], `${name}: ${answer.text}`)
      const { data } = answer.body
      if (data?.documents) assert(data.documents.length > 0, `${name} finds nothing`)
      if (data && 'document' in data) assert(data.document, `${name} finds nothing`)
    }
  })

  test('has examples that find, change and delete what they describe', async () => {
    const { body } = await server.command('/sample/books', { find: { sort: { year: 1 } } })
    assert.deepEqual(
      body.data!.documents!.map(({ title, copies }) => [title, copies]),
      [
        ['Dune', 3],
        ['Kindred', 2],
      ],
    )
  })

  test('returns schemas that also match replies with errors and traces', async () => {
    const reply = api.components.schemas['Reply']!
    for (const answer of [
      await server.command('', { seek: {} }),
      await server.command('', { seek: {} }, { 'Feature-Flag-request-tracing': 'true' }),
      await server.command(
        '/sample/books',
        { find: { sort: 1 } },
        { 'Feature-Flag-request-tracing-full': 'true' },
      ),
      await server.command('', { findKeyspaces: {} }, { Token: 'wrong' }),
      await server.command('/sample/books', { find: { sort: { year: 5 } } }),
      await server.command('', '{}', { 'Content-Type': 'text/plain' }),
    ]) {
      assert(answer.body.errors)
      assert.deepEqual(problems(answer.body, reply), [], answer.text)
    }
  })
})

const knownKeys = new Set([
  ...['$ref', 'type', 'description', 'properties', 'required', 'additionalProperties'],
  ...['minProperties', 'maxProperties', 'items', 'minItems', 'maxItems', 'minLength'],
  ...['maxLength', 'pattern', 'format', 'minimum', 'maximum', 'enum', 'default', 'oneOf'],
  'examples',
  ...['deprecated', 'x-does', 'x-on'],
])

/** The violations of a schema by a value, each with the path of the violation. */
function problems(value: unknown, schema: Schema, at = '$'): string[] {
  if (schema.$ref !== undefined) return problems(value, resolve(schema.$ref) as Schema, at)
  const found: string[] = []
  const fail = (why: string) => found.push(`${at} ${why}`)
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(value, type)))
    fail(`is no ${types.join(' or ')}`)
  if (schema.enum !== undefined && !schema.enum.includes(value))
    fail('is none of the choices')
  if (schema.oneOf !== undefined) {
    const fits = schema.oneOf.filter((choice) => problems(value, choice, at).length === 0)
    if (fits.length !== 1) fail(`fits ${fits.length} of ${schema.oneOf.length} choices`)
  }
  if (typeof value === 'number') {
    if (value < (schema.minimum ?? -Infinity)) fail('is too small')
    if (value > (schema.maximum ?? Infinity)) fail('is too great')
  }
  if (typeof value === 'string') {
    if (value.length < (schema.minLength ?? 0)) fail('is too short')
    if (value.length > (schema.maxLength ?? Infinity)) fail('is too long')
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
      fail('does not look like one')
  }
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) fail('has too few items')
    if (value.length > (schema.maxItems ?? Infinity)) fail('has too many items')
    for (const [i, item] of value.entries())
      if (schema.items) found.push(...problems(item, schema.items, `${at}[${i}]`))
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
    if (members.length < (schema.minProperties ?? 0)) fail('has too few members')
    if (members.length > (schema.maxProperties ?? Infinity)) fail('has too many members')
    for (const name of schema.required ?? [])
      if (!Object.hasOwn(value, name)) fail(`lacks ${name}`)
    for (const [name, member] of members) {
      const known = schema.properties?.[name] ?? schema.additionalProperties ?? true
      if (known === false) fail(`has a member ${name}`)
      else if (known !== true) found.push(...problems(member, known, `${at}.${name}`))
    }
  }
  return found
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function resolve(ref: string): unknown {
  assert(ref.startsWith('#/'), ref)
  let node: unknown = api
  for (const part of ref.slice(2).split('/'))
    node = (node as Record<string, unknown> | undefined)?.[part]
  return node
}

function visitAll(node: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) visit(node as Record<string, unknown>)
  for (const member of Object.values(node)) visitAll(member, visit)
}

function visitSchema(schema: Schema, visit: (schema: Schema) => void): void {
  visit(schema)
  const inside = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.oneOf ?? []),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === 'object'
      ? [schema.additionalProperties]
      : []),
  ]
  for (const part of inside) visitSchema(part, visit)
}
