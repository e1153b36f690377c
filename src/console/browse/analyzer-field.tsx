/** Form fields of an analyzer: a built-in one or a custom definition. */
import { Editor } from '../kit/editor.tsx'
import { SelectField } from '../kit/fields.tsx'

const languages =
  'arabic armenian basque bengali brazilian bulgarian catalan czech danish dutch english estonian finnish french galician german greek hindi hungarian indonesian irish italian latvian lithuanian norwegian persian portuguese romanian russian sorani spanish swedish turkish'

const builtIn = [
  ...['standard', 'simple', 'whitespace', 'stop', 'lowercase', 'keyword', 'cjk', 'thai'],
  ...languages.split(' '),
]

const own = 'own'

const start = `{
  "tokenizer": { "name": "standard" },
  "filters": [{ "name": "lowercase" }, { "name": "porterStem" }]
}`

export function AnalyzerField({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const isOwn = !builtIn.includes(value)
  return (
    <>
      <SelectField
        label="Analyzer"
        value={isOwn ? own : value}
        onChange={(name) => onChange(name === own ? start : name)}
        choices={[...builtIn, { value: own, label: 'custom' }]}
      />
      {isOwn && <Editor label="Custom analyzer" value={value} onChange={onChange} />}
    </>
  )
}
