/** Form of createCollection, with all its options. */
import { useEffect, useState } from 'preact/hooks'
import { command } from '../api/command.ts'
import { Field, SelectField, TextField } from '../kit/fields.tsx'
import { useLoad } from '../kit/hooks.ts'
import { ErrorNotice, Loading } from '../kit/notice.tsx'
import { Segments } from '../kit/tabs.tsx'
import { AnalyzerField } from './analyzer-field.tsx'
import { CreateDialog, type CreateProps } from './create-dialog.tsx'
import { builtInService, missingIn, useEmbeddingProviders } from './embedding-providers.ts'
import {
  createCollectionFields,
  emptyCollection,
  type CollectionForm,
} from './schema-forms.ts'
import { ServiceFields } from './service-fields.tsx'
import { VectorFields } from './vector-fields.tsx'

export function CreateCollection(props: CreateProps) {
  const { database } = props
  const [form, setForm] = useState<CollectionForm>(emptyCollection)
  const change = (part: Partial<CollectionForm>) =>
    setForm((before) => ({ ...before, ...part }))
  const providers = useEmbeddingProviders(database)
  // The built-in model needs no key, so the form begins with it.
  useEffect(() => {
    const service = builtInService(providers.value)
    if (service !== undefined) change({ vector: 'service', service })
  }, [providers.value])
  return (
    <CreateDialog
      {...props}
      what="collection"
      command="createCollection"
      name={form.name}
      onName={(name) => change({ name })}
      fields={() => createCollectionFields(form)}
      missing={missingIn(form, providers.value)}
    >
      {providers.isLoading ? (
        <Loading />
      ) : (
        <VectorSection database={database} form={form} change={change} />
      )}
      <fieldset>
        <legend>Search by words</legend>
        <Segments<CollectionForm['lexical']>
          label="Search by words"
          value={form.lexical}
          onChange={(lexical) => change({ lexical })}
          options={[
            { value: 'default', label: 'Server default' },
            { value: 'on', label: 'On' },
            { value: 'off', label: 'Off' },
          ]}
        />
        {form.lexical === 'on' && (
          <AnalyzerField
            value={form.analyzer}
            onChange={(analyzer) => change({ analyzer })}
          />
        )}
      </fieldset>
      <RerankSection database={database} form={form} change={change} />
      <fieldset>
        <legend>Indexing</legend>
        <Segments<CollectionForm['indexing']>
          label="Indexing"
          value={form.indexing}
          onChange={(indexing) => change({ indexing })}
          options={[
            { value: 'all', label: 'All fields' },
            { value: 'allow', label: 'Only these' },
            { value: 'deny', label: 'All except these' },
          ]}
        />
        {form.indexing !== 'all' && (
          <Field label="Paths" hint="One path per line; * means all fields.">
            {({ id, describedBy }) => (
              <textarea
                id={id}
                class="monospaced"
                rows={3}
                value={form.paths}
                aria-describedby={describedBy}
                onInput={(event) => change({ paths: event.currentTarget.value })}
              />
            )}
          </Field>
        )}
      </fieldset>
      <fieldset>
        <legend>Ids</legend>
        <SelectField<CollectionForm['defaultId']>
          label="Type of generated _id values"
          value={form.defaultId}
          onChange={(defaultId) => change({ defaultId })}
          choices={[
            { value: '', label: 'a UUID as text' },
            { value: 'uuid', label: 'uuid: version 4' },
            { value: 'uuidv6', label: 'uuidv6: ordered by time' },
            { value: 'uuidv7', label: 'uuidv7: ordered by time' },
            { value: 'objectId', label: 'objectId' },
          ]}
        />
      </fieldset>
    </CreateDialog>
  )
}

interface SectionProps {
  readonly database: string
  readonly form: CollectionForm
  readonly change: (part: Partial<CollectionForm>) => void
}

function VectorSection({ database, form, change }: SectionProps) {
  return (
    <fieldset>
      <legend>Vectors</legend>
      <Segments<CollectionForm['vector']>
        label="Vectors"
        value={form.vector}
        onChange={(vector) => change({ vector, dimension: '' })}
        options={[
          { value: 'none', label: 'None' },
          { value: 'own', label: 'I send vectors' },
          { value: 'service', label: 'A model embeds texts' },
        ]}
      />
      {form.vector === 'service' && (
        <ServiceFields
          database={database}
          service={form.service}
          onChange={(service) => change({ service })}
          dimension={form.dimension}
          onDimension={(dimension) => change({ dimension })}
        />
      )}
      {form.vector !== 'none' && (
        <div class="fields">
          {form.vector === 'own' && (
            <TextField
              label="Dimension"
              type="number"
              min={1}
              max={4096}
              value={form.dimension}
              onChange={(dimension) => change({ dimension })}
              hint="1 to 4096 numbers per vector."
              isRequired
            />
          )}
          <VectorFields
            metric={form.metric}
            sourceModel={form.sourceModel}
            onChange={change}
          />
        </div>
      )}
    </fieldset>
  )
}

type Rerankers = Readonly<
  Record<
    string,
    { readonly displayName: string; readonly models: readonly { readonly name: string }[] }
  >
>

function RerankSection({ database, form, change }: SectionProps) {
  const { value: providers = {}, error } = useLoad(
    async (signal) => {
      const { status } = await command(
        { database },
        'findRerankingProviders',
        {},
        { signal },
      )
      return status['rerankingProviders'] as Rerankers
    },
    [database],
  )
  const { provider, modelName } = form.reranker
  return (
    <fieldset>
      <legend>Reranking</legend>
      <Segments<CollectionForm['rerank']>
        label="Reranking"
        value={form.rerank}
        onChange={(rerank) => change({ rerank })}
        options={[
          { value: 'default', label: 'Server default' },
          { value: 'on', label: 'On' },
          { value: 'off', label: 'Off' },
        ]}
      />
      {form.rerank === 'on' && (
        <>
          <ErrorNotice error={error} />
          <div class="fields">
            <SelectField
              label="Provider"
              value={provider}
              onChange={(name) =>
                change({
                  reranker: {
                    provider: name,
                    modelName: providers[name]?.models[0]?.name ?? '',
                  },
                })
              }
              choices={[
                { value: '', label: 'server default' },
                ...Object.entries(providers).map(([value, { displayName }]) => ({
                  value,
                  label: displayName,
                })),
              ]}
            />
            {provider !== '' && (
              <SelectField
                label="Model"
                value={modelName}
                choices={(providers[provider]?.models ?? []).map(({ name }) => name)}
                onChange={(name) => change({ reranker: { provider, modelName: name } })}
              />
            )}
          </div>
        </>
      )}
    </fieldset>
  )
}
