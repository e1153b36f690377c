/** Form fields of an embedding service, from the list of findEmbeddingProviders. */
import { SelectField, TextField } from '../kit/fields.tsx'
import { ErrorNotice, Loading } from '../kit/notice.tsx'
import {
  providerChoices,
  useEmbeddingProviders,
  type Model,
  type Parameter,
} from './embedding-providers.ts'
import { noService, type ServiceForm } from './schema-forms.ts'

/** Placeholder in the list of models of a provider that accepts any model name. */
const anyModel = 'any-model'

export function ServiceFields({
  database,
  service,
  onChange,
  dimension,
  onDimension,
  wantedDimension,
}: {
  readonly database: string
  readonly service: ServiceForm
  readonly onChange: (service: ServiceForm) => void
  /** The dimension of new vectors. */
  readonly dimension?: string
  readonly onDimension?: (dimension: string) => void
  /** The dimension of an existing column; models that cannot produce it are hidden. */
  readonly wantedDimension?: number | undefined
}) {
  const { value: providers, error } = useEmbeddingProviders(database)
  if (error !== undefined) return <ErrorNotice error={error} />
  if (providers === undefined) return <Loading />
  const provider = providers[service.provider]
  const model = provider?.models.find(({ name }) => name === service.modelName)
  const isAny = provider?.models.some(({ name }) => name === anyModel) ?? false
  const size = sizeParameter(
    model ?? provider?.models.find(({ name }) => name === anyModel),
  )
  const parameters = [
    ...(provider?.parameters ?? []),
    ...(model?.parameters ?? []).filter(({ name }) => name !== 'vectorDimension'),
  ]
  const usable = (models: readonly Model[] = []) =>
    models.filter((entry) => makes(entry, wantedDimension))
  const chooseProvider = (name: string) => {
    const first = usable(providers[name]?.models).find((entry) => entry.name !== anyModel)
    onChange({ ...noService, provider: name, modelName: first?.name ?? '' })
    onDimension?.(sizeOf(first))
  }
  const chooseModel = (name: string) => {
    // Parameters of the provider are kept. Parameters of the model are dropped, because another
    // model may have others.
    const own = new Set(provider?.parameters.map((parameter) => parameter.name))
    const kept = Object.entries(service.parameters).filter(([key]) => own.has(key))
    onChange({ ...service, modelName: name, parameters: Object.fromEntries(kept) })
    onDimension?.(sizeOf(provider?.models.find((entry) => entry.name === name)))
  }
  const { SHARED_SECRET: secret } = provider?.supportedAuthentication ?? {}
  return (
    <>
      <div class="fields">
        <SelectField
          label="Provider"
          value={service.provider}
          onChange={chooseProvider}
          choices={[{ value: '', label: 'Choose one' }, ...providerChoices(providers)]}
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
              choices={usable(provider.models).map(({ name }) => name)}
              onChange={chooseModel}
              {...hintOf(
                usable(provider.models).length === 0
                  ? `No model has the dimension ${wantedDimension}.`
                  : undefined,
              )}
            />
          ))}
        {size !== undefined && onDimension !== undefined && (
          <TextField
            label="Dimension"
            type="number"
            value={dimension ?? ''}
            onChange={onDimension}
            {...hintOf(rangeText(size))}
          />
        )}
        {typeof model?.vectorDimension === 'number' && (
          <p class="hint">Vectors have {model.vectorDimension} numbers.</p>
        )}
      </div>
      {parameters.length > 0 && (
        <div class="fields">
          {parameters.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              value={service.parameters[parameter.name] ?? ''}
              onChange={(value) =>
                onChange({
                  ...service,
                  parameters: { ...service.parameters, [parameter.name]: value },
                })
              }
            />
          ))}
        </div>
      )}
      {secret !== undefined && (
        <TextField
          label="Name of a key stored by the operator (optional)"
          value={service.providerKey}
          onChange={(providerKey) => onChange({ ...service, providerKey })}
          hint="Without a name, requests must send a key, unless the operator has set one for the provider."
        />
      )}
    </>
  )
}

function ParameterField({
  parameter,
  value,
  onChange,
}: {
  readonly parameter: Parameter
  readonly value: string | boolean
  readonly onChange: (value: string | boolean) => void
}) {
  const { name, displayName = name, required, type, defaultValue, help } = parameter
  const label = displayName + (required ? '' : ' (optional)')
  if (type.toLowerCase() === 'boolean')
    return (
      <SelectField
        label={label}
        value={String(value)}
        choices={[
          {
            value: '',
            label: defaultValue === null ? 'not set' : `default: ${defaultValue}`,
          },
          ...['true', 'false'].map((each) => ({ value: each })),
        ]}
        onChange={(chosen) => onChange(chosen === '' ? '' : chosen === 'true')}
        {...hintOf(help)}
      />
    )
  return (
    <TextField
      label={label}
      value={String(value)}
      onChange={onChange}
      placeholder={parameter.hint ?? defaultValue ?? ''}
      {...hintOf(help)}
    />
  )
}

function sizeOf(model: Model | undefined): string {
  return sizeParameter(model)?.defaultValue ?? ''
}

function sizeParameter(model: Model | undefined): Parameter | undefined {
  return model?.parameters.find(({ name }) => name === 'vectorDimension')
}

/** Whether the model can produce vectors of this dimension. */
function makes(model: Model, dimension: number | undefined): boolean {
  if (dimension === undefined || model.vectorDimension === dimension) return true
  if (typeof model.vectorDimension === 'number') return false
  const { numericRange: [least, greatest] = [0, Infinity], options } =
    sizeParameter(model)?.validation ?? {}
  return options?.includes(dimension) ?? (dimension >= least && dimension <= greatest)
}

function rangeText({ validation }: Parameter): string | undefined {
  const { numericRange, options } = validation ?? {}
  if (options !== undefined) return options.join(', ')
  return numericRange === undefined ? undefined : `${numericRange[0]} to ${numericRange[1]}`
}

function hintOf(hint: string | undefined): { readonly hint?: string } {
  return hint === undefined ? {} : { hint }
}
