/** Makes the existing documents of a collection searchable by the text of their fields. */
import { useState } from 'preact/hooks'
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { refreshSizes } from '../catalog/catalog.ts'
import { countMatching } from '../data/change-documents.ts'
import { ClauseField } from '../data/clause-field.tsx'
import { readClause } from '../data/read-clause.ts'
import { useFields } from '../data/use-fields.ts'
import type { Value } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { CheckField } from '../kit/fields.tsx'
import { useAction, useLoad, useStore } from '../kit/hooks.ts'
import { ErrorNotice, Loading, Notice } from '../kit/notice.tsx'
import { firstChoice, problemOf, templateOf, type TextChoice } from './console-template.ts'
import { EmbedProgress } from './embed-progress.tsx'
import { embedRuns, forgetRun, keyOfRun, startEmbed } from './running-embed.ts'
import { TextChoiceFields } from './text-choice-fields.tsx'

export function EmbedDialog({
  place,
  onClose,
}: {
  readonly place: Place
  readonly onClose: () => void
}) {
  const running = useStore(embedRuns).get(keyOfRun(place))
  return (
    <Dialog
      title={`Make ${place.name} searchable`}
      onClose={onClose}
      actions={running === undefined ? undefined : <Button onClick={onClose}>Close</Button>}
    >
      {running === undefined ? (
        <EmbedForm place={place} />
      ) : (
        <EmbedProgress running={running} onAgain={() => forgetRun(place)} />
      )}
    </Dialog>
  )
}

function EmbedForm({ place }: { readonly place: Place }) {
  const fields = useFields(place)
  const { value: reply, error: loadError } = useLoad(
    (signal) => command(place, 'find', {}, { signal }),
    [place],
  )
  const [chosen, setChosen] = useState<TextChoice | undefined>(undefined)
  const [filter, setFilter] = useState('')
  const [refreshes, setRefreshes] = useState(false)
  const sample = reply?.documents ?? []
  const choice = chosen ?? firstChoice(sample)
  const begin = useAction(async () => {
    const clause = readClause('filter', filter)
    const total = await countTotal(place, clause)
    const template = templateOf(choice)!
    const run = startEmbed(place, { template, filter: clause, refreshes, total })
    void run.ended.then(() => refreshSizes(place))
  })
  if (loadError !== undefined) return <ErrorNotice error={loadError} />
  if (reply === undefined) return <Loading />
  if (sample.length === 0)
    return (
      <Notice title="The collection has no documents">Import or insert some first.</Notice>
    )
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        begin.run()
      }}
    >
      <p>
        {explanationOf(place)} The fields stay as they are. Documents that have a vector or
        a text of their own keep it.
      </p>
      <TextChoiceFields
        sample={sample}
        choice={choice}
        onChange={setChosen}
        isOptional={false}
      />
      <ClauseField
        clause="filter"
        fields={fields}
        value={filter}
        onChange={setFilter}
        placeholder="All documents"
        onSubmit={begin.run}
        isSingleLine
      />
      <CheckField
        label="Embed documents again whose fields have changed since"
        value={refreshes}
        onChange={setRefreshes}
      />
      <ErrorNotice error={begin.error} onClose={begin.clearError} />
      <div class="row">
        <Button
          kind="primary"
          isSubmit
          isBusy={begin.isBusy}
          isDisabled={!isComplete(choice)}
        >
          Make searchable
        </Button>
      </div>
    </form>
  )
}

function isComplete(choice: TextChoice): boolean {
  return problemOf(choice) === undefined && templateOf(choice) !== undefined
}

function explanationOf({ options }: Place): string {
  const hasModel = options.vector?.service !== undefined
  if (hasModel && options.lexical?.enabled === true)
    return 'The text of each document is embedded by the model of the collection, and indexed for searches by words.'
  return hasModel
    ? 'The text of each document is embedded by the model of the collection.'
    : 'The text of each document is indexed for searches by words. The collection has no model, so there is no search by meaning.'
}

async function countTotal(
  place: Place,
  filter: Value | undefined,
): Promise<number | undefined> {
  if (filter === undefined) {
    const { status } = await command(place, 'estimatedDocumentCount')
    return status['count'] as number
  }
  const { count, isMore } = await countMatching(place, filter)
  return isMore ? undefined : count
}
