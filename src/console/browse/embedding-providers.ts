/** Embedding services that the server offers, from findEmbeddingProviders. */
import { command } from '../api/command.ts'
import { useLoad } from '../kit/hooks.ts'
import { noService, type CollectionForm, type ServiceForm } from './schema-forms.ts'

export interface Parameter {
  readonly name: string
  /**
   * Type of the parameter. Parameters of a provider have uppercase types, parameters of a model
   * lowercase types.
   */
  readonly type: string
  readonly displayName?: string
  readonly help?: string
  readonly hint?: string
  readonly required: boolean
  readonly defaultValue: string | null
  readonly validation?: {
    readonly numericRange?: readonly [number, number]
    readonly options?: readonly number[]
  }
}

export interface Model {
  readonly name: string
  readonly vectorDimension: number | null
  readonly parameters: readonly Parameter[]
}

export interface Provider {
  readonly displayName: string
  readonly parameters: readonly Parameter[]
  readonly models: readonly Model[]
  readonly supportedAuthentication: Readonly<
    Record<string, { readonly enabled: boolean } | undefined>
  >
}

export type Providers = Readonly<Record<string, Provider>>

/** The provider of models that run in the server. */
const builtIn = 'local'

export function useEmbeddingProviders(database: string) {
  return useLoad(
    async (signal) => {
      const { status } = await command(
        { database },
        'findEmbeddingProviders',
        {},
        { signal },
      )
      return status['embeddingProviders'] as Providers
    },
    [database],
  )
}

/** Choices of a provider: first the models of the server itself, then providers that need a key. */
export function providerChoices(
  providers: Providers,
): readonly { readonly value: string; readonly label: string }[] {
  const rank = (name: string) => (name === builtIn ? 0 : needsKey(providers[name]!) ? 2 : 1)
  return Object.keys(providers)
    .toSorted((one, other) => rank(one) - rank(other))
    .map((value) => ({ value, label: labelOf(value, providers[value]!) }))
}

function labelOf(name: string, provider: Provider): string {
  if (name === builtIn) return 'Built-in model'
  return provider.displayName + (needsKey(provider) ? ' (needs a key)' : '')
}

function needsKey({ supportedAuthentication }: Provider): boolean {
  return supportedAuthentication['NONE']?.enabled !== true
}

/** The built-in model; undefined if the server has none. */
export function builtInService(providers: Providers | undefined): ServiceForm | undefined {
  const model = providers?.[builtIn]?.models[0]
  return model && { ...noService, provider: builtIn, modelName: model.name }
}

/** What the form of a collection lacks, as nouns. */
export function missingIn(
  form: CollectionForm,
  providers: Providers | undefined,
): readonly string[] {
  const missing = form.name === '' ? ['a name'] : []
  if (form.vector === 'own' && form.dimension.trim() === '')
    missing.push('the dimension of the vectors')
  if (form.vector === 'service') missing.push(...missingInService(form.service, providers))
  if (form.indexing !== 'all' && form.paths.trim() === '')
    missing.push('the paths for the indexing')
  return missing
}

function missingInService(
  { provider, modelName, parameters }: ServiceForm,
  providers: Providers | undefined,
): readonly string[] {
  if (provider === '') return ['the provider of the model']
  const known = providers?.[provider]
  if (modelName.trim() === '') return ['the model']
  const model = known?.models.find(({ name }) => name === modelName)
  return [...(known?.parameters ?? []), ...(model?.parameters ?? [])]
    .filter(
      ({ name, required, defaultValue }) =>
        required && defaultValue === null && name !== 'vectorDimension',
    )
    .filter(({ name }) => (parameters[name] ?? '') === '')
    .map(({ name, displayName = name }) => `the ${displayName} of the model`)
}
