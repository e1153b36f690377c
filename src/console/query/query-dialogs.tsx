/** Dialogs of the query history and of saved queries. */
import { useState } from 'preact/hooks'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { TextField } from '../kit/fields.tsx'
import {
  addNamed,
  describeQuery,
  removeNamed,
  type SavedQueries,
  type QueryText,
} from './query-store.ts'

interface QueriesProps {
  readonly kept: SavedQueries
  readonly onChange: (kept: SavedQueries) => void
  readonly onClose: () => void
}

export function QueriesDialog({
  kept,
  onChange,
  onClose,
  onChoose,
}: QueriesProps & { readonly onChoose: (query: QueryText) => void }) {
  const { named, history } = kept
  return (
    <Dialog title="History and saved queries" onClose={onClose}>
      <h3>Saved</h3>
      {named.length === 0 && <p class="hint">“Save as” stores a query under a name.</p>}
      <ul class="query-list">
        {named.map(({ name, query }) => (
          <li key={name}>
            <button type="button" class="query-choice" onClick={() => onChoose(query)}>
              <strong>{name}</strong>
              <code>{describeQuery(query)}</code>
            </button>
            <Button
              icon="delete"
              kind="quiet"
              label={`Delete ${name}`}
              onClick={() => onChange(removeNamed(kept, name))}
            />
          </li>
        ))}
      </ul>
      <h3>History</h3>
      {history.length === 0 && (
        <p class="hint">Queries that you run are stored in this browser.</p>
      )}
      <ul class="query-list">
        {history.map(({ query, ranAt }) => (
          <li key={ranAt}>
            <button type="button" class="query-choice" onClick={() => onChoose(query)}>
              <span class="quiet-text">{new Date(ranAt).toLocaleString()}</span>
              <code>{describeQuery(query)}</code>
            </button>
          </li>
        ))}
      </ul>
      {history.length > 0 && (
        <div>
          <Button kind="danger" onClick={() => onChange({ ...kept, history: [] })}>
            Clear the history
          </Button>
        </div>
      )}
    </Dialog>
  )
}

export function SaveDialog({
  kept,
  query,
  onChange,
  onClose,
}: QueriesProps & { readonly query: QueryText }) {
  const [name, setName] = useState('')
  const isTaken = kept.named.some((entry) => entry.name === name.trim())
  return (
    <Dialog
      title="Save the query"
      size="small"
      onClose={onClose}
      submit={{
        label: isTaken ? 'Replace' : 'Save',
        isDisabled: name.trim() === '',
        run: () => {
          onChange(addNamed(kept, name.trim(), query))
          onClose()
        },
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        hasFocus
        hint={
          isTaken
            ? 'A query with this name exists. It will be replaced.'
            : 'The query is stored in this browser.'
        }
      />
    </Dialog>
  )
}
