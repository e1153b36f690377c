/** Which service makes vectors, as findEmbeddingProviders lists them. */
import { command } from '../api/command.ts'
import { SelectField, TextField } from '../kit/fields.tsx'
import { useLoad } from '../kit/hooks.ts'
import { ErrorNotice, Loading } from '../kit/notice.tsx'
import { noService, type ServiceForm } from './schema-forms.ts'

interface Parameter {
  readonly name: string
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

interface Model {
  readonly name: string
  readonly vectorDimension: number | null
  readonly parameters: readonly Parameter[]
}

interface Provider {
  readonly displayName: string
  readonly parameters: readonly Parameter[]
  readonly models: readonly Model[]
  readonly supportedAuthentication: Readonly<
    Record<string, { readonly enabled: boolean } | undefined>
  >
}

type Providers = Readonly<Record<string, Provider>>

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

/** Models of this name stand for any. */
const anyModel = 'any-model'

export function ServiceFields({
  database,
  service,
  onChange,
  dimension,
  onDimension,
}: {
  readonly database: string
  readonly service: ServiceForm
  readonly onChange: (service: ServiceForm) => void
  readonly dimension: string
  readonly onDimension: (dimension: string) => void
}) {
  const { value: providers, error } = useEmbeddingProviders(database)
  if (error !== undefined) return <ErrorNotice error={error} />
  if (providers === undefined) return <Loading />
  const provider = providers[service.provider]
  const model = provider?.models.find(({ name }) => name === service.modelName)
  const isAny = provider?.models.some(({ name }) => name === anyModel) ?? false
  const size = (
    model ?? provider?.models.find(({ name }) => name === anyModel)
  )?.parameters.find(({ name }) => name === 'vectorDimension')
  const chooseProvider = (name: string) => {
    const first = providers[name]?.models.find((entry) => entry.name !== anyModel)
    onChange({ ...noService, provider: name, modelName: first?.name ?? '' })
    onDimension(sizeOf(first))
  }
  const chooseModel = (name: string) => {
    onChange({ ...service, modelName: name })
    onDimension(sizeOf(provider?.models.find((entry) => entry.name === name)))
  }
  const { SHARED_SECRET: secret } = provider?.supportedAuthentication ?? {}
  return (
    <>
      <div class="fields">
        <SelectField
          label="Provider"
          value={service.provider}
          onChange={chooseProvider}
          choices={[
            { value: '', label: 'Choose one' },
            ...Object.entries(providers).map(([value, { displayName }]) => ({
              value,
              label: displayName,
            })),
          ]}
        />
        {provider !== undefined &&
          (isAny ? (
            <TextField
              label="Model"
              value={service.modelName}
              onChange={chooseModel}
              proposals={provider.models
                .map(({ name }) => name)
                .filter((name) => name !== anyModel)}
            />
          ) : (
            <SelectField
              label="Model"
              value={service.modelName}
              choices={provider.models.map(({ name }) => name)}
              onChange={chooseModel}
            />
          ))}
        {size !== undefined && (
          <TextField
            label="Dimension"
            type="number"
            value={dimension}
            onChange={onDimension}
            {...hintOf(rangeText(size))}
          />
        )}
        {typeof model?.vectorDimension === 'number' && (
          <p class="hint">Vectors have {model.vectorDimension} numbers.</p>
        )}
      </div>
      {(provider?.parameters.length ?? 0) > 0 && (
        <div class="fields">
          {provider!.parameters.map((parameter) => (
            <TextField
              key={parameter.name}
              label={
                (parameter.displayName ?? parameter.name) +
                (parameter.required ? '' : ' (optional)')
              }
              value={service.parameters[parameter.name] ?? ''}
              onChange={(value) =>
                onChange({
                  ...service,
                  parameters: { ...service.parameters, [parameter.name]: value },
                })
              }
              {...(parameter.hint === undefined ? {} : { placeholder: parameter.hint })}
              {...hintOf(parameter.help)}
            />
          ))}
        </div>
      )}
      {secret !== undefined && (
        <TextField
          label="Name of a key that the operator keeps (optional)"
          value={service.providerKey}
          onChange={(providerKey) => onChange({ ...service, providerKey })}
          hint="Without one, requests bring a key of their own, or the operator set one for the provider."
        />
      )}
    </>
  )
}

function sizeOf(model: Model | undefined): string {
  return (
    model?.parameters.find(({ name }) => name === 'vectorDimension')?.defaultValue ?? ''
  )
}

function rangeText({ validation }: Parameter): string | undefined {
  const { numericRange, options } = validation ?? {}
  if (options !== undefined) return options.join(', ')
  return numericRange === undefined ? undefined : `${numericRange[0]} to ${numericRange[1]}`
}

function hintOf(hint: string | undefined): { readonly hint?: string } {
  return hint === undefined ? {} : { hint }
}
