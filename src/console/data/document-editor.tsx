/** Editor of a document or row as JSON: inserts, replaces, or applies update operators. */
import { useMemo, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { FieldList } from '../completion/field-paths.ts'
import { parseJson } from '../json/parse-json.ts'
import { printJson, printPretty } from '../json/print-json.ts'
import { isObject, type JsonObject } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useDiscard } from '../kit/discard.tsx'
import { useAction, useLoad } from '../kit/hooks.ts'
import { ErrorNotice, Loading, Notice } from '../kit/notice.tsx'
import { Segments } from '../kit/tabs.tsx'
import { showToast } from '../kit/toasts.tsx'
import {
  insertDocuments,
  readWhole,
  replaceDocument,
  updateDocument,
} from './change-documents.ts'
import { ClauseField } from './clause-field.tsx'
import { idText, noun } from './document-id.ts'
import { insertText } from './insert-text.ts'

export interface DocumentEditorProps {
  readonly place: Place
  readonly fields: FieldList
  /** The document to edit; absent for an insert. */
  readonly document?: JsonObject
  /** The text of an insert, such as a copy of a document. */
  readonly start?: string
  readonly onClose: () => void
  /** Called after a successful write. */
  readonly onDone: () => void
}

type Mode = 'replace' | 'update'

/** Layout of an editor that fills its dialog. The title of the dialog serves as its label. */
const filling = { size: 'fill', hasFocus: true, isLabelHidden: true } as const

export function DocumentEditor(props: DocumentEditorProps) {
  return props.document === undefined ? (
    <InsertDialog {...props} />
  ) : (
    <ChangeDialog {...props} document={props.document} />
  )
}

function InsertDialog(props: DocumentEditorProps) {
  const { place, fields, onClose, onDone } = props
  // The fields may arrive after the dialog has opened.
  const start = useMemo(
    () => props.start ?? insertText(place, fields),
    [props.start, place, fields],
  )
  const [typed, setText] = useState<string | undefined>(undefined)
  const text = typed ?? start
  const { leave, question } = useDiscard(text !== start, onClose)
  const { run, isBusy, error } = useAction(async () => {
    const value = parseJson(text)
    const documents = (Array.isArray(value) ? value : [value]).filter(isObject)
    if (documents.length === 0)
      throw new Error('The text must be a JSON object or an array of objects.')
    const count = await insertDocuments(place, documents)
    showToast({ text: `Inserted ${count} ${noun(place, count)}.` })
    onDone()
    onClose()
  })
  return (
    <>
      <Dialog
        title={`Insert ${place.kind === 'table' ? 'rows' : 'documents'}`}
        size="large"
        onClose={leave}
        actions={
          <>
            <span class="hint push">
              Write an object or an array of objects. Control+Enter inserts.
            </span>
            <Button onClick={leave}>Cancel</Button>
            <Button kind="primary" isBusy={isBusy} onClick={run}>
              Insert
            </Button>
          </>
        }
      >
        <ErrorNotice error={error} />
        <ClauseField
          {...filling}
          clause="document"
          command="insertOne"
          fields={fields}
          value={text}
          onChange={setText}
          error={error}
          onSubmit={run}
        />
      </Dialog>
      {question}
    </>
  )
}

function ChangeDialog(props: DocumentEditorProps & { readonly document: JsonObject }) {
  const { place, fields, document, onClose, onDone } = props
  const [mode, setMode] = useState<Mode>('replace')
  const { value: whole, error: loadError } = useLoad(() => readWhole(place, document), [])
  const [typed, setText] = useState<string | undefined>(undefined)
  const read = useMemo(() => (whole === undefined ? '' : printPretty(whole)), [whole])
  const text = typed ?? read
  const [update, setUpdate] = useState(startUpdate)
  const isChanged = update !== startUpdate || (typed !== undefined && typed !== read)
  const { leave, question } = useDiscard(isChanged, onClose)
  /** The current document if another client changed it after this editor had read it. */
  const [changed, setChanged] = useState<JsonObject | undefined>(undefined)
  const { run, isBusy, error } = useAction(async () => {
    const value = parseJson(mode === 'replace' ? text : update)
    if (!isObject(value)) throw new Error('The text must be a JSON object.')
    const now = mode === 'replace' ? await readWhole(place, document) : undefined
    if (now !== undefined && !isSame(now, changed ?? whole!)) {
      setChanged(now)
      return
    }
    if (mode === 'replace') await replaceDocument(place, changed ?? whole!, value)
    else await updateDocument(place, whole!, value)
    showToast({ text: `Saved ${idText(place, document)}.` })
    onDone()
    onClose()
  })
  return (
    <>
      <Dialog
        title={`Edit ${idText(place, document)}`}
        size="large"
        onClose={leave}
        actions={
          <>
            <span class="hint push">
              Control+Enter saves, Control+Space proposes names.
            </span>
            <Button onClick={leave}>Cancel</Button>
            <Button
              kind="primary"
              isBusy={isBusy}
              isDisabled={whole === undefined}
              onClick={run}
            >
              {mode === 'replace' ? 'Save' : 'Update'}
            </Button>
          </>
        }
      >
        <Segments<Mode>
          label="Editing mode"
          value={mode}
          onChange={setMode}
          options={[
            { value: 'replace', label: `Whole ${noun(place, 1)}` },
            { value: 'update', label: 'Update operators' },
          ]}
        />
        <ErrorNotice error={loadError ?? error} />
        {changed !== undefined && (
          <Notice kind="warning" title="Another client has changed it.">
            <div class="row">
              Saving again overwrites the other change.
              <Button
                onClick={() => {
                  setText(printPretty(changed))
                }}
              >
                Show the other change
              </Button>
            </div>
          </Notice>
        )}
        {whole === undefined ? (
          loadError === undefined && <Loading />
        ) : mode === 'replace' ? (
          <ClauseField
            {...filling}
            key="replace"
            clause="document"
            command="insertOne"
            fields={fields}
            value={text}
            onChange={setText}
            error={error}
            onSubmit={run}
          />
        ) : (
          <ClauseField
            {...filling}
            key="update"
            clause="update"
            command="updateOne"
            fields={fields}
            value={update}
            onChange={setUpdate}
            error={error}
            onSubmit={run}
          />
        )}
      </Dialog>
      {question}
    </>
  )
}

const startUpdate = '{\n  "$set": {  }\n}'

function isSame(one: JsonObject, other: JsonObject): boolean {
  return printJson(one) === printJson(other)
}
