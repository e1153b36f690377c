/** Form fields for the metric and the source model of vectors. */
import { SelectField } from '../kit/fields.tsx'

const metrics = [
  { value: '', label: 'default of the source model' },
  ...['cosine', 'dot_product', 'euclidean'].map((value) => ({ value })),
]

const sourceModels = [
  { value: '', label: 'other' },
  ...[
    ...['ada002', 'bert', 'cohere-v3', 'gecko', 'nv-qa-4'],
    ...['openai-v3-large', 'openai-v3-small'],
  ].map((value) => ({ value })),
]

export function VectorFields({
  metric,
  sourceModel,
  onChange,
}: {
  readonly metric: string
  readonly sourceModel: string
  readonly onChange: (change: { metric?: string; sourceModel?: string }) => void
}) {
  return (
    <>
      <SelectField
        label="Metric"
        value={metric}
        choices={metrics}
        onChange={(value) => onChange({ metric: value })}
      />
      <SelectField
        label="Source model"
        value={sourceModel}
        choices={sourceModels}
        onChange={(value) => onChange({ sourceModel: value })}
      />
    </>
  )
}
