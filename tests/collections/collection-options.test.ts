import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  differences,
  parseCollectionOptions,
  type OptionsContext,
} from '../../src/collections/options/collection-options.ts'
import { ApiError, ApiErrors } from '../../src/errors/api-error.ts'
import { fromPlain } from '../../src/json/plain.ts'
import { defaultLimits } from '../../src/limits.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import type {
  EmbeddingModel,
  EmbeddingProvider,
  EmbeddingProviders,
} from '../../src/providers/embedding-providers.ts'
import {
  rerankingProviders,
  type RerankingProviders,
} from '../../src/providers/reranking-providers.ts'

const nvidia = { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' }
const lexical = { enabled: true, analyzer: 'standard' }
const rerank = { enabled: true, service: nvidia }

const allOn: OptionsContext = {
  limits: defaultLimits,
  features: { lexical: true, reranking: true, vectorize: true },
  embeddingProviders: exampleEmbeddingProviders(),
  rerankingProviders: exampleRerankingProviders(),
}

const allOff: OptionsContext = {
  ...allOn,
  features: { lexical: false, reranking: false, vectorize: false },
}

/**
 * Models of a server that reranks with the service that a collection names. A server with a local
 * model may replace this service.
 */
const asAsked = { answeringReranker: <Service>(service: Service) => service }

describe('accepted collection options', () => {
  accepts('absent options', undefined, { lexical, rerank })
  accepts('null', null, { lexical, rerank })
  accepts('an empty object', {}, { lexical, rerank })
  accepts(
    'null in place of every option',
    { defaultId: null, vector: null, indexing: null, lexical: null, rerank: null },
    { lexical, rerank },
  )
  for (const type of ['objectId', 'uuid', 'uuidv6', 'uuidv7'])
    accepts(
      `the default id ${type}`,
      { defaultId: { type } },
      {
        defaultId: { type },
        lexical,
        rerank,
      },
    )
  accepts('a default id without a type', { defaultId: {} }, { lexical, rerank })

  const vectors: [string, object, object][] = [
    ['cosine by default', { dimension: 5 }, { metric: 'cosine', sourceModel: 'other' }],
    [
      'the dot product for a known source model',
      { dimension: 5, sourceModel: 'bert' },
      { metric: 'dot_product', sourceModel: 'bert' },
    ],
    [
      'a metric that overrides the metric of the source model',
      { dimension: 5, sourceModel: 'ada002', metric: 'euclidean' },
      { metric: 'euclidean', sourceModel: 'ada002' },
    ],
    [
      'the older names size and function',
      { size: 5, function: 'dot_product' },
      { metric: 'dot_product', sourceModel: 'other' },
    ],
    [
      'the memory of the vector index',
      { dimension: 5, memory: 'low' },
      { metric: 'cosine', sourceModel: 'other', memory: 'low' },
    ],
  ]
  for (const [name, vector, filled] of vectors)
    accepts(name, { vector }, { vector: { dimension: 5, ...filled }, lexical, rerank })
  accepts(
    'the largest dimension',
    { vector: { dimension: 4096 } },
    {
      vector: { dimension: 4096, metric: 'cosine', sourceModel: 'other' },
      lexical,
      rerank,
    },
  )

  for (const indexing of [
    { allow: ['*'] },
    { deny: ['*'] },
    { allow: [] },
    { deny: ['a.b', '$vector', 'with&.dot', 'and&&ampersand', '__proto__'] },
  ])
    accepts(
      `indexing ${JSON.stringify(indexing)}`,
      { indexing },
      { indexing, lexical, rerank },
    )

  for (const analyzer of [undefined, null, {}])
    accepts(
      `lexical search with the analyzer ${JSON.stringify(analyzer)}`,
      { lexical: { enabled: true, analyzer } },
      { lexical, rerank },
    )
  for (const analyzer of [
    'STANDARD',
    'thai',
    { tokenizer: { name: 'whitespace' }, filters: [{ name: 'lowercase' }] },
    { filters: [{ name: 'LowerCase' }], tokenizer: null, charFilters: null },
    { tokenizer: { name: 'ngram', args: { minGramSize: '2', maxGramSize: '3' } } },
    { charFilters: [{ name: 'htmlStrip' }] },
    { filters: [{ name: 'wordDelimiterGraph', args: { catenateAll: '1' } }] },
    { tokenizer: { name: 'pattern', args: { pattern: ',', group: '-1' } } },
    {
      tokenizer: { name: 'standard', args: null },
      filters: [{ args: { words: 'the, A', ignoreCase: 'true' }, name: 'stop' }],
    },
  ])
    accepts(
      `the analyzer ${JSON.stringify(analyzer)}, echoed as given`,
      { lexical: { enabled: true, analyzer } },
      { lexical: { enabled: true, analyzer }, rerank },
    )
  for (const analyzer of [undefined, null, {}])
    accepts(
      `lexical search off with the analyzer ${JSON.stringify(analyzer)}`,
      { lexical: { enabled: false, analyzer } },
      { lexical: { enabled: false }, rerank },
    )

  accepts('reranking without a service', { rerank: { enabled: true } }, { lexical, rerank })
  for (const service of [undefined, null, {}])
    accepts(
      `reranking off with the service ${JSON.stringify(service)}`,
      { rerank: { enabled: false, service } },
      { lexical, rerank: { enabled: false } },
    )
  accepts(
    'a reranking service with empty authentication and parameters',
    {
      rerank: { enabled: true, service: { ...nvidia, authentication: {}, parameters: {} } },
    },
    { lexical, rerank },
  )

  test('disable lexical search and reranking when the server has both disabled', () => {
    assert.deepEqual(parse({}, allOff).options, {
      lexical: { enabled: false },
      rerank: { enabled: false },
    })
  })

  test('are stored in the key order of findCollections', () => {
    const { options } = parse({
      rerank: { service: nvidia, enabled: true },
      lexical: { analyzer: 'english', enabled: true },
      indexing: { deny: ['comment'] },
      vector: {
        service: {
          parameters: { truncate: true },
          authentication: {},
          modelName: 'fixed-8',
          provider: 'example',
        },
        sourceModel: 'other',
        metric: 'cosine',
        dimension: 8,
      },
      defaultId: { type: 'objectId' },
    })
    assert.equal(
      JSON.stringify(options),
      JSON.stringify({
        defaultId: { type: 'objectId' },
        vector: {
          dimension: 8,
          metric: 'cosine',
          sourceModel: 'other',
          service: {
            provider: 'example',
            modelName: 'fixed-8',
            authentication: {},
            parameters: { truncate: true },
          },
        },
        indexing: { deny: ['comment'] },
        lexical: { enabled: true, analyzer: 'english' },
        rerank: { enabled: true, service: nvidia },
      }),
    )
  })

  test('record whether lexical and rerank were requested', () => {
    assert.deepEqual(parse({}).given, { lexical: false, rerank: false })
    assert.deepEqual(parse({ lexical: null, rerank }).given, {
      lexical: false,
      rerank: true,
    })
    assert.deepEqual(parse({ lexical }).given, { lexical: true, rerank: false })
  })
})

describe('rejected collection options', () => {
  const unknownOption = 'INVALID_CREATE_COLLECTION_FIELD'
  refuses({ vectors: {} }, unknownOption, '"vectors"')
  refuses({ defaultId: { kind: 'uuid' } }, unknownOption, '"kind"')
  refuses({ indexing: { allow: [], only: [] } }, unknownOption, '"only"')
  refuses({ vector: { dimension: 5, dims: 5 } }, unknownOption, '"dims"')
  refuses({ ['__proto__']: {} }, unknownOption, '"__proto__"')
  refuses({ constructor: {} }, unknownOption, '"constructor"')

  const unknownField = 'COMMAND_FIELD_UNKNOWN'
  refuses({ vector: { service: { provider: 'p', model: 'm' } } }, unknownField, '"model"')
  refuses({ lexical: { enabled: true, language: 'en' } }, unknownField, '"language"')
  refuses({ rerank: { enabled: true, provider: 'x' } }, unknownField, '"provider"')
  refuses({ rerank: { enabled: true, service: { model: 'x' } } }, unknownField, '"model"')

  const wrongType = 'REQUEST_STRUCTURE_MISMATCH'
  refuses('all', wrongType, 'command.options must be an Object')
  refuses([], wrongType, 'command.options must be an Object')
  for (const option of ['defaultId', 'vector', 'indexing', 'lexical', 'rerank'])
    for (const value of [true, 'yes', 3, []])
      refuses({ [option]: value }, wrongType, `command.options.${option}`)
  refuses({ defaultId: { type: 4 } }, wrongType, 'command.options.defaultId.type')
  for (const dimension of ['5', 1.5, true, {}])
    refuses({ vector: { dimension } }, wrongType, 'command.options.vector.dimension')
  refuses({ vector: { size: '5' } }, wrongType, 'command.options.vector.size')
  refuses({ vector: { dimension: 5, metric: 1 } }, wrongType, 'vector.metric')
  refuses({ vector: { dimension: 5, memory: 1 } }, wrongType, 'vector.memory')
  refuses({ vector: { dimension: 5, sourceModel: [] } }, wrongType, 'vector.sourceModel')
  refuses({ vector: { service: 'openai' } }, wrongType, 'vector.service')
  refuses({ vector: { service: { provider: 1 } } }, wrongType, 'service.provider')
  refuses({ vector: { service: { modelName: 1 } } }, wrongType, 'service.modelName')
  refuses({ vector: { service: { authentication: 'k' } } }, wrongType, 'authentication')
  refuses({ vector: { service: { authentication: { k: 1 } } } }, wrongType, 'tication.k')
  refuses({ vector: { service: { parameters: [] } } }, wrongType, 'service.parameters')
  refuses({ indexing: { allow: 'name' } }, wrongType, 'indexing.allow')
  refuses({ indexing: { deny: ['a', 1] } }, wrongType, 'indexing.deny[1]')
  refuses({ lexical: { enabled: 'true' } }, wrongType, 'lexical.enabled')
  refuses({ rerank: { enabled: 1 } }, wrongType, 'rerank.enabled')
  refuses({ rerank: { enabled: true, service: 'nvidia' } }, wrongType, 'rerank.service')

  const badValue = 'COMMAND_FIELD_VALUE_INVALID'
  refuses(
    { defaultId: { type: 'UUID' } },
    badValue,
    'command.options.defaultId.type',
    '"UUID"',
  )
  refuses({ defaultId: { type: '' } }, badValue, 'command.options.defaultId.type')
  for (const dimension of [0, -1])
    refuses(
      { vector: { dimension } },
      badValue,
      'command.options.vector.dimension',
      String(dimension),
    )
  refuses(
    { vector: { dimension: 5, metric: 'Cosine' } },
    badValue,
    'command.options.vector.metric',
    '"Cosine"',
  )
  refuses({ vector: { dimension: 5, memory: 'tiny' } }, badValue, 'vector.memory', '"tiny"')
  refuses({ vector: { size: 5, function: 'dot' } }, badValue, 'vector.function', '"dot"')
  refuses(
    { vector: { dimension: 5, sourceModel: 'ada003' } },
    badValue,
    'command.options.vector.sourceModel',
    '"ada003"',
  )
  refuses({ vector: { dimension: 5, size: 5 } }, badValue, 'vector.size')

  test('are all reported together', () => {
    const errors = failures({
      defaultId: { type: 'serial' },
      vector: { dimension: 0, metric: 'manhattan', sourceModel: 'word2vec' },
      indexing: {},
    })
    assert.deepEqual(
      errors.map((error) => error.code),
      Array(4).fill('COMMAND_FIELD_VALUE_INVALID'),
    )
    for (const [i, value] of ['"serial"', '0', '"manhattan"', '"word2vec"'].entries())
      assert.match(errors[i]!.message, new RegExp(value))
  })

  refuses({ vector: { dimension: 4097 } }, 'VECTOR_SEARCH_TOO_BIG_VALUE', '4097', '4096')
  refuses({ vector: {} }, 'INVALID_CREATE_COLLECTION_OPTIONS', 'vector.dimension')

  const badIndexing = 'INVALID_INDEXING_DEFINITION'
  refuses({ indexing: {} }, badIndexing, 'neither')
  refuses({ indexing: { allow: null } }, badIndexing, 'neither')
  refuses({ indexing: { allow: ['a'], deny: ['b'] } }, badIndexing, 'both')
  refuses({ indexing: { allow: ['a', 'b', 'a'] } }, badIndexing, '"a"', 'more than once')
  refuses({ indexing: { deny: ['*', '*'] } }, badIndexing, '"*"')
  refuses({ indexing: { deny: [''] } }, badIndexing, 'empty')
  refuses({ indexing: { deny: ['a..b'] } }, badIndexing, '"a..b"')
  for (const path of ['$vectorize', '$lexical', '$hybrid', '$set', '$'])
    refuses({ indexing: { allow: [path] } }, badIndexing, `"${path}"`)
  for (const path of ['a&b', 'a&'])
    refuses({ indexing: { allow: [path] } }, badIndexing, `"${path}"`, '&')

  const badOptions = 'INVALID_CREATE_COLLECTION_OPTIONS'
  refuses({ lexical: {} }, badOptions, 'enabled')
  refuses({ lexical: { analyzer: 'standard' } }, badOptions, 'enabled')
  refuses({ lexical: { enabled: false, analyzer: 'standard' } }, badOptions, 'analyzer')
  for (const [analyzer, ...named] of [
    [5, 'Number'],
    [[], 'Array'],
    ['klingon', '"klingon"'],
    ['', '""'],
    [{ stemmer: {} }, '"stemmer"'],
    [{ tokenizer: 'standard' }, 'tokenizer', 'String'],
    [{ tokenizer: false }, 'tokenizer', 'Boolean'],
    [{ filters: {} }, 'filters', 'Object'],
    [{ charFilters: 'x' }, 'charFilters', 'String'],
    [{ tokenizer: null, filters: [] }, 'at least one'],
    [{ tokenizer: {} }, 'name'],
    [{ tokenizer: { name: 'standard', arg: {} } }, '"arg"'],
    [{ tokenizer: { name: 'lowercase' } }, 'tokenizer "lowercase"'],
    [{ filters: ['lowercase'] }, 'token filter', 'String'],
    [{ filters: [{ name: 'whitespace' }] }, 'token filter "whitespace"'],
    [{ filters: [{ name: 'lowercase', args: [] }] }, 'args', 'Array'],
    [{ filters: [{ name: 'lowercase', args: { a: 'b' } }] }, '"a"'],
    [{ filters: [{ name: 'length', args: { min: '1' } }] }, '"max"'],
    [{ filters: [{ name: 'length', args: { min: 1, max: '2' } }] }, '"min"', 'Number'],
    [{ filters: [{ name: 'length', args: { min: 'one', max: '2' } }] }, '"min"', '"one"'],
    [{ filters: [{ name: 'stop', args: { ignoreCase: 'maybe' } }] }, '"maybe"'],
    [{ filters: [{ name: 'stop', args: { constructor: 'x' } }] }, '"constructor"'],
    [{ charFilters: [{ name: 'lowercase' }] }, 'char filter "lowercase"'],
  ] as [unknown, ...string[]][])
    refuses({ lexical: { enabled: true, analyzer } }, badOptions, ...named)
  refuses({ lexical }, 'LEXICAL_FEATURE_NOT_ENABLED', { context: allOff })

  const service = (members: object) => ({ rerank: { enabled: true, service: members } })
  refuses({ rerank: {} }, badOptions, 'enabled')
  refuses({ rerank: { service: nvidia } }, badOptions, 'enabled')
  refuses({ rerank: { enabled: false, service: nvidia } }, badOptions, 'service')
  refuses(service({}), badOptions, 'provider')
  refuses(service({ provider: 'nvidia' }), badOptions, 'modelName')
  refuses(service({ modelName: nvidia.modelName }), badOptions, 'provider')
  refuses(service({ ...nvidia, provider: 'acme' }), badOptions, '"acme"', 'nvidia')
  refuses(service({ ...nvidia, provider: 'resting' }), badOptions, '"resting"', 'disabled')
  refuses(service({ ...nvidia, modelName: 'best' }), badOptions, '"best"', nvidia.modelName)
  refuses(service({ ...nvidia, authentication: { k: 'v' } }), badOptions, 'authentication')
  refuses(service({ ...nvidia, parameters: { a: 1 } }), badOptions, 'parameters')
  refuses(service({ ...nvidia, modelName: 'old' }), 'DEPRECATED_AI_MODEL', '"old"')
  refuses(service({ ...nvidia, modelName: 'dead' }), 'END_OF_LIFE_AI_MODEL', '"dead"')
  refuses({ rerank }, 'RERANKING_FEATURE_NOT_ENABLED', { context: allOff })
})

describe('embedding services', () => {
  const vectorOf = (service: object, more: object = {}, context = allOn) =>
    parse({ vector: { ...more, service } }, context).options.vector

  test('take the dimension from a model with a fixed dimension', () => {
    const service = { provider: 'example', modelName: 'fixed-8' }
    const filled = { dimension: 8, metric: 'cosine', sourceModel: 'other', service }
    assert.deepEqual(vectorOf(service), filled)
    assert.deepEqual(vectorOf(service, { dimension: 8 }), filled)
  })

  test('use the requested dimension, or else the default of a model with a range or a choice', () => {
    for (const [modelName, dimension, expected] of [
      ['range-2-16', undefined, 16],
      ['range-2-16', 2, 2],
      ['range-2-16', 16, 16],
      ['options-4-8', undefined, 8],
      ['options-4-8', 4, 4],
    ] as const)
      assert.equal(
        vectorOf({ provider: 'example', modelName }, { dimension })?.dimension,
        expected,
      )
  })

  test('use the default model of a provider when the model is omitted', () => {
    const parameters = { endpoint: 'e' }
    for (const modelName of [undefined, 'defined-elsewhere'])
      assert.deepEqual(
        vectorOf({ provider: 'dedicated', modelName, parameters }, { dimension: 3 })
          ?.service,
        { provider: 'dedicated', modelName: 'defined-elsewhere', parameters },
      )
  })

  test('store "mine.providerKey" for the credentials "mine" and "mine.providerKey"', () => {
    for (const credential of ['mine', 'mine.providerKey'])
      assert.deepEqual(
        vectorOf({
          provider: 'secretive',
          modelName: 'fixed-8',
          authentication: { providerKey: credential },
        })?.service?.authentication,
        { providerKey: 'mine.providerKey' },
      )
  })

  test('accept parameters of the provider and of the model', () => {
    const parameters = { truncate: false, task: 'matching', weight: 0.5 }
    assert.deepEqual(
      vectorOf({ provider: 'example', modelName: 'range-2-16', parameters })?.service
        ?.parameters,
      parameters,
    )
  })

  const bad = 'INVALID_CREATE_COLLECTION_OPTIONS'
  const fixed = { provider: 'example', modelName: 'fixed-8' }
  refusesService({}, bad, 'provider', 'example')
  refusesService({ modelName: 'fixed-8' }, bad, 'provider')
  refusesService({ ...fixed, provider: 'acme' }, bad, '"acme"')
  refusesService({ ...fixed, provider: 'constructor' }, bad, '"constructor"')
  refusesService({ ...fixed, provider: 'resting' }, bad, '"resting"', 'disabled')
  refusesService({ ...fixed, authentication: { providerKey: 'k' } }, bad, '"providerKey"')
  refusesService({ provider: 'secretive', modelName: 'fixed-8' }, bad, 'authentication')
  refusesService(
    { provider: 'secretive', modelName: 'fixed-8', authentication: {} },
    bad,
    'authentication',
  )
  refusesService(
    { provider: 'secretive', modelName: 'fixed-8', authentication: { other: 'k' } },
    bad,
    '"other"',
    'providerKey',
  )
  refusesService({ provider: 'example' }, bad, 'modelName', 'fixed-8')
  refusesService({ provider: 'example', modelName: 'nine' }, bad, '"nine"')
  refusesService({ ...fixed, modelName: 'old' }, 'DEPRECATED_AI_MODEL', '"old"', 'fixed-8')
  refusesService({ ...fixed, modelName: 'dead' }, 'END_OF_LIFE_AI_MODEL', '"dead"')
  refusesService(fixed, bad, '9', 'must be 8', { dimension: 9 })
  for (const dimension of [1, 17])
    refusesService({ ...fixed, modelName: 'range-2-16' }, bad, '2 to 16', { dimension })
  refusesService({ ...fixed, modelName: 'options-4-8' }, bad, '4, 8', { dimension: 5 })
  refusesService({ provider: 'dedicated', parameters: { endpoint: 'e' } }, bad, 'dimension')
  refusesService({ provider: 'dedicated', modelName: 'x' }, bad, '"x"', { dimension: 3 })
  refusesService({ provider: 'dedicated' }, bad, '"endpoint"', { dimension: 3 })
  refusesService({ ...fixed, parameters: { colour: 'red' } }, bad, '"colour"', 'truncate')
  refusesService({ ...fixed, parameters: { task: 'x' } }, bad, '"task"')
  refusesService({ ...fixed, parameters: { vectorDimension: 8 } }, bad, '"vectorDimension"')
  refusesService(
    { ...fixed, parameters: { truncate: 'yes' } },
    bad,
    '"truncate"',
    'boolean',
  )
  refusesService({ ...fixed, parameters: { truncate: null } }, bad, '"truncate"', 'Null')
  refusesService(
    { provider: 'example', modelName: 'range-2-16', parameters: { weight: '1' } },
    bad,
    '"weight"',
    'number',
  )
  refuses({ vector: { service: fixed } }, 'VECTORIZE_FEATURE_NOT_AVAILABLE', {
    context: allOff,
  })
  refuses({ vector: { service: fixed } }, bad, '"example"', 'none', {
    context: { ...allOn, embeddingProviders: new Map() },
  })

  function refusesService(
    service: object,
    code: string,
    ...rest: (string | { dimension: number })[]
  ) {
    const named = rest.filter((part) => typeof part === 'string')
    const more = rest.find((part) => typeof part === 'object')
    refuses({ vector: { ...more, service } }, code, ...named)
  }
})

describe('differences of collection options', () => {
  const rich = {
    defaultId: { type: 'uuid' },
    vector: { dimension: 5, metric: 'cosine' },
    indexing: { allow: ['a', 'b'] },
    lexical: { enabled: true, analyzer: 'English' },
    rerank: { enabled: true },
  }
  const recipe = (tokenizer: string, filters?: object[]) => ({
    lexical: { enabled: true, analyzer: { tokenizer: { name: tokenizer }, filters } },
  })

  const equal: [string, unknown, unknown][] = [
    ['omitted options', {}, undefined],
    ['equal options', rich, rich],
    [
      'the order of paths',
      { indexing: { deny: ['a', 'b'] } },
      { indexing: { deny: ['b', 'a'] } },
    ],
    [
      'explicit defaults',
      { vector: { size: 5, metric: 'cosine', sourceModel: 'other' } },
      { vector: { dimension: 5 } },
    ],
    [
      'omitted lexical and rerank',
      {},
      { lexical: { enabled: false }, rerank: { enabled: false } },
    ],
    [
      'the case of an analyzer name',
      { lexical: { enabled: true, analyzer: 'GERMAN' } },
      { lexical: { enabled: true, analyzer: 'german' } },
    ],
    ['an explicit default analyzer', { lexical: { enabled: true, analyzer: {} } }, {}],
    ['the spelling of an analyzer definition', recipe('Standard', []), recipe('standard')],
    [
      'empty authentication and parameters',
      {
        vector: {
          service: {
            provider: 'example',
            modelName: 'fixed-8',
            authentication: {},
            parameters: {},
          },
        },
      },
      { vector: { dimension: 8, service: { provider: 'example', modelName: 'fixed-8' } } },
    ],
  ]
  for (const [name, requested, existing] of equal)
    test(`do not include ${name}`, () => {
      assert.deepEqual(differences(parse(requested), parse(existing).options, asAsked), [])
    })

  const different: [string[], unknown, unknown][] = [
    [['defaultId'], {}, { defaultId: { type: 'uuid' } }],
    [['defaultId'], { defaultId: { type: 'uuid' } }, {}],
    [['defaultId'], { defaultId: { type: 'uuid' } }, { defaultId: { type: 'uuidv7' } }],
    [['vector'], { vector: { dimension: 5 } }, {}],
    [['vector'], { vector: { dimension: 5 } }, { vector: { dimension: 6 } }],
    [
      ['vector'],
      { vector: { dimension: 5 } },
      { vector: { dimension: 5, metric: 'euclidean' } },
    ],
    [
      ['vector'],
      { vector: { dimension: 5, metric: 'cosine' } },
      { vector: { dimension: 5, metric: 'cosine', sourceModel: 'bert' } },
    ],
    [
      ['vector'],
      { vector: { dimension: 8 } },
      { vector: { service: { provider: 'example', modelName: 'fixed-8' } } },
    ],
    [
      ['vector'],
      { vector: { service: { provider: 'example', modelName: 'fixed-8' } } },
      {
        vector: {
          service: {
            provider: 'example',
            modelName: 'fixed-8',
            parameters: { truncate: true },
          },
        },
      },
    ],
    [['indexing'], {}, { indexing: { allow: ['*'] } }],
    [['indexing'], { indexing: { allow: ['a'] } }, { indexing: { deny: ['a'] } }],
    [['indexing'], { indexing: { allow: ['a'] } }, { indexing: { allow: ['a', 'b'] } }],
    [['lexical'], { lexical: { enabled: false } }, {}],
    [['lexical'], { lexical: { enabled: true, analyzer: 'english' } }, {}],
    [
      ['lexical'],
      recipe('standard', [{ name: 'trim' }, { name: 'stop' }]),
      recipe('standard', [{ name: 'stop' }, { name: 'trim' }]),
    ],
    [['rerank'], { rerank: { enabled: false } }, {}],
    [['defaultId', 'vector', 'indexing'], {}, rich],
    [
      ['defaultId', 'vector', 'indexing', 'lexical', 'rerank'],
      rich,
      { rerank: { enabled: false } },
    ],
  ]
  for (const [settings, requested, existing] of different)
    test(`are ${settings.join(', ')} for ${JSON.stringify(requested)} and ${JSON.stringify(existing)}`, () => {
      assert.deepEqual(
        differences(parse(requested), parse(existing).options, asAsked),
        settings,
      )
    })

  test('are empty for options that were stored as JSON', () => {
    const options = fc.record(
      {
        defaultId: fc.constantFrom({ type: 'uuid' }, { type: 'objectId' }),
        vector: fc.record({ dimension: fc.integer({ min: 1, max: 4096 }) }),
        indexing: fc.constantFrom({ allow: ['x'] }, { deny: ['*'] }),
        lexical: fc.constantFrom(lexical, { enabled: false }),
        rerank: fc.constantFrom({ enabled: true }, { enabled: false }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(options, (given) => {
        const requested = parse(given)
        const stored = JSON.parse(
          JSON.stringify(requested.options),
        ) as typeof requested.options
        assert.deepEqual(differences(requested, stored, asAsked), [])
      }),
    )
  })
})

test('empty options select the default reranking service of the server', () => {
  const context = { ...allOn, rerankingProviders }
  assert.deepEqual(parse({}, context).options.rerank, rerank)
})

function parse(options: unknown, context = allOn) {
  const value = options === undefined ? undefined : fromPlain(options)
  return atOnce(parseCollectionOptions(value, context))
}

function failures(options: unknown, context = allOn): readonly ApiError[] {
  try {
    parse(options, context)
  } catch (failure) {
    if (failure instanceof ApiErrors) return failure.errors
    if (failure instanceof ApiError) return [failure]
    throw failure
  }
  return assert.fail('the options were accepted')
}

function accepts(what: string, given: unknown, expected: object) {
  test(`include ${what}`, () => {
    assert.deepEqual(parse(given).options, expected)
  })
}

function refuses(
  given: unknown,
  code: string,
  ...rest: (string | { context: OptionsContext })[]
) {
  const named = rest.filter((part) => typeof part === 'string')
  const { context = allOn } = rest.find((part) => typeof part === 'object') ?? {}
  test(`${JSON.stringify(given)} is rejected with ${code}`, () => {
    const errors = failures(given, context)
    assert.deepEqual(
      errors.map((error) => error.code),
      [code],
    )
    for (const part of named)
      assert.ok(errors[0]!.message.includes(part), `${errors[0]!.message} names ${part}`)
  })
}

/** A provider of each kind that the checks distinguish. */
function exampleEmbeddingProviders(): EmbeddingProviders {
  const model = (
    name: string,
    dimension: EmbeddingModel['dimension'],
    more: Partial<EmbeddingModel> = {},
  ): EmbeddingModel => ({
    name,
    dimension,
    support: { status: 'SUPPORTED' },
    parameters: [],
    ...more,
  })
  const eight = { kind: 'fixed', value: 8 } as const
  const token = { accepted: 'providerKey', forwarded: 'Authorization' }
  const byHeader = {
    NONE: { enabled: false, tokens: [] },
    HEADER: { enabled: true, tokens: [{ ...token, accepted: 'x-embedding-api-key' }] },
    SHARED_SECRET: { enabled: false, tokens: [token] },
  }
  const example: EmbeddingProvider = {
    displayName: 'Example',
    enabled: true,
    supportedAuthentication: byHeader,
    parameters: [{ name: 'truncate', type: 'boolean', required: false }],
    models: [
      model('fixed-8', eight),
      model(
        'range-2-16',
        { kind: 'range', min: 2, max: 16, byDefault: 16 },
        {
          parameters: [
            { name: 'task', type: 'string', required: false },
            { name: 'weight', type: 'number', required: false },
          ],
        },
      ),
      model('options-4-8', { kind: 'options', values: [4, 8], byDefault: 8 }),
      model('old', eight, { support: { status: 'DEPRECATED', message: 'Use fixed-8.' } }),
      model('dead', eight, { support: { status: 'END_OF_LIFE' } }),
    ],
  }
  return new Map([
    ['example', example],
    ['resting', { ...example, enabled: false }],
    [
      'secretive',
      {
        ...example,
        supportedAuthentication: {
          ...byHeader,
          HEADER: { enabled: false, tokens: [] },
          SHARED_SECRET: { enabled: true, tokens: [token] },
        },
      },
    ],
    [
      'dedicated',
      {
        ...example,
        parameters: [{ name: 'endpoint', type: 'string', required: true }],
        models: [model('defined-elsewhere', { kind: 'range', min: 2, max: 3072 })],
        defaultModel: 'defined-elsewhere',
      },
    ],
  ])
}

function exampleRerankingProviders(): RerankingProviders {
  const offered = rerankingProviders.get('nvidia')!
  const more = [
    { name: 'old', isDefault: false, support: { status: 'DEPRECATED' } },
    { name: 'dead', isDefault: false, support: { status: 'END_OF_LIFE' } },
  ] as const
  return new Map([
    ['resting', { ...offered, enabled: false, isDefault: false }],
    ['nvidia', { ...offered, models: [...more, ...offered.models] }],
  ])
}
