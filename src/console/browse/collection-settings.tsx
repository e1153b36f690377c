/** The options of a collection, in words. */
import type { CollectionOptions, Place } from '../api/place.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { formatCount } from '../kit/format.ts'

interface Fact {
  readonly label: string
  readonly value: string
}

interface FactGroup {
  readonly title: string
  readonly facts: readonly Fact[]
}

export function CollectionSettings({ place }: { readonly place: Place }) {
  return (
    <>
      <p>
        The options of a collection are set when it is created. To change them, create
        another collection, and export and import the documents.
      </p>
      {groupsOf(place.options).map(({ title, facts }) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          <dl class="facts">
            {facts.flatMap(({ label, value }) => [
              <dt key={label}>{label}</dt>,
              <dd key={`${label} value`}>{value}</dd>,
            ])}
          </dl>
        </fieldset>
      ))}
      <details>
        <summary>Options as JSON</summary>
        <CodeBlock label="Options" text={JSON.stringify(place.options, undefined, 2)} />
      </details>
    </>
  )
}

function groupsOf(options: CollectionOptions): readonly FactGroup[] {
  return [
    { title: 'Ids', facts: [fact('Type of generated ids', idType(options))] },
    { title: 'Vectors', facts: vectorFacts(options) },
    { title: 'Search by words', facts: lexicalFacts(options) },
    { title: 'Indexes of fields', facts: indexFacts(options) },
    { title: 'Reranking', facts: rerankFacts(options) },
  ]
}

function fact(label: string, value: string): Fact {
  return { label, value }
}

function idType({ defaultId }: CollectionOptions): string {
  return defaultId === undefined || defaultId.type === '' ? 'uuid' : defaultId.type
}

function vectorFacts({ vector }: CollectionOptions): readonly Fact[] {
  if (vector === undefined) return [fact('Vectors', 'none')]
  const { dimension, metric, sourceModel, service } = vector
  return [
    fact('Dimension', formatCount(dimension)),
    fact('Metric', metric),
    ...(sourceModel === undefined ? [] : [fact('Source model', sourceModel)]),
    fact(
      'Model that embeds texts',
      service === undefined
        ? 'none; clients send vectors'
        : serviceName(service.provider, service.modelName),
    ),
  ]
}

function lexicalFacts({ lexical }: CollectionOptions): readonly Fact[] {
  if (lexical?.enabled !== true) return [fact('Search by words', 'off')]
  const { analyzer } = lexical
  return [
    fact('Search by words', 'on'),
    fact('Analyzer', typeof analyzer === 'string' ? analyzer : JSON.stringify(analyzer)),
  ]
}

function indexFacts({ indexing }: CollectionOptions): readonly Fact[] {
  const { allow, deny } = indexing ?? {}
  if (allow !== undefined) return [fact('Only these fields', allow.join(', '))]
  if (deny?.includes('*') === true) return [fact('Fields', 'none')]
  if (deny !== undefined) return [fact('All fields except', deny.join(', '))]
  return [fact('Fields', 'all')]
}

function rerankFacts({ rerank }: CollectionOptions): readonly Fact[] {
  if (rerank?.enabled !== true) return [fact('Reranking', 'off')]
  const { service } = rerank
  return [
    fact('Reranking', 'on'),
    ...(service === undefined
      ? []
      : [fact('Model', serviceName(service.provider, service.modelName))]),
  ]
}

function serviceName(provider: string, model: string | null): string {
  return model === null ? provider : `${provider}, ${model}`
}
