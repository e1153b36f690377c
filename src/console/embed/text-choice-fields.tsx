/** Form fields for the text by which documents are searched. */
import { SelectField, TextField } from '../kit/fields.tsx'
import type { JsonObject } from '../json/value.ts'
import {
  firstTemplate,
  problemOf,
  searchText,
  templateOf,
  textFieldNames,
  type TextChoice,
} from './console-template.ts'

/** Stands for a template in the list of fields. No path of a field has a space before its name. */
const several = ' several'

/** Fields that the list shows. Others can be named in a template. */
const shownMax = 50
const exampleLengthMax = 160

export function TextChoiceFields({
  sample,
  choice,
  onChange,
  isOptional,
}: {
  readonly sample: readonly JsonObject[]
  readonly choice: TextChoice
  readonly onChange: (choice: TextChoice) => void
  /** Whether documents may stay without a text. */
  readonly isOptional: boolean
}) {
  const names = textFieldNames(sample).slice(0, shownMax)
  const { field, template } = choice
  const listed = field === '' || names.includes(field) ? names : [field, ...names]
  const problem = problemOf(choice)
  return (
    <div class="fields">
      <SelectField
        label="Search by the text of"
        value={template === undefined ? field : several}
        choices={[
          ...(isOptional || listed.length === 0 || field === ''
            ? [{ value: '', label: isOptional ? 'nothing' : 'Choose a field' }]
            : []),
          ...listed.map((value) => ({ value })),
          { value: several, label: 'several fields' },
        ]}
        onChange={(value) =>
          onChange(
            value === several
              ? { field, template: firstTemplate(sample, field) }
              : { field: value, template: undefined },
          )
        }
        {...hintOf(example(sample, choice))}
      />
      {template !== undefined && (
        <TextField
          label="Template"
          isMonospaced
          value={template}
          placeholder="{{title}}. {{text}}"
          onChange={(typed) => onChange({ field, template: typed })}
          error={problem}
          hint="Each {{field}} stands for the text of that field."
        />
      )}
    </div>
  )
}

/** The text of the first document that has one. */
function example(sample: readonly JsonObject[], choice: TextChoice): string | undefined {
  if (problemOf(choice) !== undefined) return undefined
  const template = templateOf(choice)
  if (template === undefined) return undefined
  const texts = sample.map((document) => searchText(template, document))
  const first = texts.find((text) => text !== '')
  if (first === undefined) return 'None of the first documents has a text in it.'
  return `Example: ${first.length > exampleLengthMax ? `${first.slice(0, exampleLengthMax)}…` : first}`
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint }
}
