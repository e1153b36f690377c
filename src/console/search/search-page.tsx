/** Search tab: runs one query in every search mode of the collection, side by side. */
import { useRef, useState } from 'preact/hooks'
import { command, type ApiProblem } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { useMay } from '../catalog/permissions.ts'
import { ClauseField } from '../data/clause-field.tsx'
import { dataQueryOf, noQuery } from '../data/data-query.ts'
import { idFilter } from '../data/document-id.ts'
import { useFields } from '../data/use-fields.ts'
import { searchesTexts } from '../embed/console-template.ts'
import { EmbedDialog } from '../embed/embed-dialog.tsx'
import { EmbedNotice } from '../embed/embed-notice.tsx'
import { printJson } from '../json/print-json.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { SelectField, TextField } from '../kit/fields.tsx'
import { formatMany, formatMs } from '../kit/format.ts'
import { useLoad, useStore } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Loading, Warnings } from '../kit/notice.tsx'
import { CodeDialog } from '../query/code-dialog.tsx'
import { stemsOf } from './matched-words.ts'
import { ResultCard } from './result-card.tsx'
import { readInput } from './search-input.ts'
import { readResults, type SearchResult } from './search-results.ts'
import { searchStateOf } from './search-state.ts'
import { whyEmpty, type EmptyReason } from './why-empty.ts'
import {
  searchCommand,
  searchModeLabels,
  searchModesOf,
  type SearchCommand,
  type TableIndex,
  type SearchMode,
  type SearchModeName,
} from './search-ways.ts'

/** The state of one search mode. */
interface Column {
  readonly way: SearchMode
  readonly command: SearchCommand
  readonly results?: readonly SearchResult[]
  readonly warnings?: readonly ApiProblem[]
  readonly elapsedMs?: number
  readonly error?: unknown
  /** Why there are no results. */
  readonly reason?: EmptyReason | undefined
}

interface Search {
  readonly columns: readonly Column[]
  readonly stems: ReadonlySet<string>
}

const limits = ['5', '10', '20', '50'] as const

export function SearchPage({ place }: { readonly place: Place }) {
  const store = searchStateOf(place)
  const state = useStore(store)
  const { value: indexes, error: indexError } = useLoad(() => findIndexes(place), [place])
  const fields = useFields(place)
  const [search, setSearch] = useState<Search | undefined>(undefined)
  const [inputError, setInputError] = useState<unknown>(undefined)
  const [isBusy, setBusy] = useState(false)
  const [pointed, setPointed] = useState<string | undefined>(undefined)
  const [shownCode, setShownCode] = useState<SearchCommand | undefined>(undefined)
  const [isEmbedding, setEmbedding] = useState(false)
  const may = useMay(place)
  const running = useRef<AbortController | undefined>(undefined)
  if (indexError !== undefined) return <ErrorNotice error={indexError} />
  if (indexes === undefined) return <Loading />
  const ways = searchModesOf(place, indexes)
  const usable = ways.filter(({ lacks }) => lacks === undefined)
  const lacking = ways.filter(({ lacks }) => lacks !== undefined)
  const hasTexts = usable.some(({ name }) => name !== 'vector')
  const hasVectors = usable.some(({ name }) => name === 'vector')

  const run = async () => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    const isLatest = () => running.current === controller
    setBusy(true)
    setInputError(undefined)
    try {
      const vectorWay = ways.find(({ name }) => name === 'vector')!
      const input = await readInput(place, vectorWay, state, controller.signal)
      const stems = stemsOf(input.text)
      const columns = usable.flatMap((way): Column[] => {
        const made = searchCommand(place, way, input)
        return made === undefined ? [] : [{ way, command: made }]
      })
      if (columns.length === 0) throw new Error('Enter a text to search for.')
      if (!isLatest()) return
      setSearch({ columns, stems })
      await Promise.all(
        columns.map(async (column) => {
          const done = await runColumn(
            place,
            column,
            stems,
            input.filter,
            controller.signal,
          )
          if (!isLatest()) return
          setSearch((before) => before && withColumn(before, done))
        }),
      )
    } catch (error) {
      if (!isLatest()) return
      setSearch(undefined)
      setInputError(error)
    } finally {
      if (isLatest()) setBusy(false)
    }
  }
  const submit = () => void run()
  const makeSearchable =
    place.kind === 'collection' && searchesTexts(place.options) && may('db-table-modify')
      ? () => setEmbedding(true)
      : undefined
  const open = (document: JsonObject) => {
    const filter = idFilter(place, document)
    if (filter === undefined) return
    dataQueryOf(place).set({ ...noQuery, filter })
    goTo(routeTo(place.database, place.keyspace, place.name, 'data'))
  }

  if (usable.length === 0)
    return (
      <EmptyState title={`This ${place.kind} cannot be searched`}>
        {place.kind === 'table'
          ? 'A search requires a column with a vector index or a text index. Create an ' +
            'index first.'
          : 'A search requires vectors or lexical search, which are set when the ' +
            'collection is created.'}
      </EmptyState>
    )
  return (
    <div class="search-page">
      <form
        class="search-form"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {hasTexts && (
          <TextField
            label="Search for"
            type="search"
            class="search-text"
            value={state.text}
            placeholder="A question, a description, or words"
            onChange={(text) => store.update((before) => ({ ...before, text }))}
          />
        )}
        {hasVectors && (
          <TextField
            label="Vector"
            class="search-vector"
            isMonospaced
            value={state.vector}
            placeholder="[0.1, …] or an id"
            onChange={(vector) => store.update((before) => ({ ...before, vector }))}
          />
        )}
        <ClauseField
          clause="filter"
          class="search-filter"
          fields={fields}
          value={state.filter}
          onChange={(filter) => store.update((before) => ({ ...before, filter }))}
          placeholder="All"
          onSubmit={submit}
          isSingleLine
        />
        <SelectField
          label="Limit"
          value={String(state.limit)}
          choices={limits}
          onChange={(limit) =>
            store.update((before) => ({ ...before, limit: Number(limit) }))
          }
        />
        <Button kind="primary" icon="search" isSubmit isBusy={isBusy}>
          Search
        </Button>
        {makeSearchable !== undefined && (
          <Button onClick={makeSearchable}>Make searchable</Button>
        )}
      </form>
      <EmbedNotice place={place} onShow={() => setEmbedding(true)} />
      {lacking.length > 0 && (
        <ul class="search-lacking">
          {lacking.map(({ name, lacks }) => (
            <li key={name}>
              <strong>{searchModeLabels[name]}</strong> is not available: {lacks}.
            </li>
          ))}
        </ul>
      )}
      <ErrorNotice error={inputError} onClose={() => setInputError(undefined)} />
      {search === undefined ? (
        <EmptyState title={formatMany(usable.length, 'search mode')}>
          The console runs the same query in each mode and shows the results side by side:{' '}
          {usable.map(({ name }) => searchModeLabels[name].toLowerCase()).join(', ')}.
        </EmptyState>
      ) : (
        <div class="search-columns">
          {search.columns.map((column) => (
            <ResultColumn
              key={column.way.name}
              place={place}
              column={column}
              search={search}
              pointed={pointed}
              onPoint={setPointed}
              onOpen={open}
              onCode={() => setShownCode(column.command)}
              onMakeSearchable={makeSearchable}
            />
          ))}
        </div>
      )}
      {isEmbedding && <EmbedDialog place={place} onClose={() => setEmbedding(false)} />}
      {shownCode !== undefined && (
        <CodeDialog
          place={place}
          command={shownCode.name}
          body={printJson(shownCode.fields)}
          onClose={() => setShownCode(undefined)}
        />
      )}
    </div>
  )
}

function ResultColumn({
  place,
  column,
  search,
  pointed,
  onPoint,
  onOpen,
  onCode,
  onMakeSearchable,
}: {
  readonly place: Place
  readonly column: Column
  readonly search: Search
  readonly pointed: string | undefined
  readonly onPoint: (key: string | undefined) => void
  readonly onOpen: (document: JsonObject) => void
  readonly onCode: () => void
  /** Undefined if documents cannot be made searchable. */
  readonly onMakeSearchable: (() => void) | undefined
}) {
  const { way, results, error, elapsedMs, reason } = column
  const others = search.columns.filter((other) => other !== column && other.results)
  return (
    <section class="search-column" aria-label={searchModeLabels[way.name]}>
      <header>
        <h2>{searchModeLabels[way.name]}</h2>
        <Button kind="quiet" class="push" onClick={onCode}>
          As code
        </Button>
      </header>
      <p class="hint">
        {results !== undefined &&
          `${formatMany(results.length, 'result')}, ${formatMs(elapsedMs ?? 0)}. `}
        {explanations[way.name]}
      </p>
      <ErrorNotice error={error} />
      <Warnings warnings={column.warnings ?? []} />
      {results === undefined && error === undefined && <Loading label="Searching" />}
      {results?.length === 0 && (
        <div class="stack">
          <p class="quiet-text">
            No results. {reason?.text}
            {reason === undefined &&
              way.name === 'words' &&
              'Use fewer words to find more.'}
          </p>
          {reason?.isUnsearchable === true && onMakeSearchable !== undefined && (
            <div class="row">
              <Button onClick={onMakeSearchable}>Make searchable …</Button>
            </div>
          )}
        </div>
      )}
      {results !== undefined && results.length > 0 && (
        <ol class="results">
          {results.map((result, position) => (
            <ResultCard
              key={`${position} ${result.key}`}
              place={place}
              result={result}
              rank={position + 1}
              stems={search.stems}
              elsewhere={others.map((other) => ({
                way: other.way.name,
                rank: rankIn(other, result.key),
              }))}
              isLinked={pointed === result.key}
              onPoint={onPoint}
              onOpen={() => onOpen(result.document)}
            />
          ))}
        </ol>
      )}
    </section>
  )
}

const explanations: Readonly<Record<SearchModeName, string>> = {
  meaning: 'Nearest to the vector of the text.',
  vector: 'Nearest to the vector.',
  words: 'Texts with any of the words, those with all words first. Ordered by BM25.',
  hybrid: 'Found by meaning or by words, ordered by a reranker.',
}

function rankIn({ results = [] }: Column, key: string): number | undefined {
  const position = results.findIndex((result) => result.key === key)
  return position === -1 ? undefined : position + 1
}

function withColumn(search: Search, done: Column): Search {
  return {
    ...search,
    columns: search.columns.map((column) =>
      column.way.name === done.way.name ? done : column,
    ),
  }
}

async function runColumn(
  place: Place,
  column: Column,
  stems: ReadonlySet<string>,
  filter: Value | undefined,
  signal: AbortSignal,
): Promise<Column> {
  const { name, fields } = column.command
  try {
    const reply = await command(place, name, fields, { signal })
    const results = readResults(place, column.way, reply, stems)
    const { elapsedMs, warnings } = reply
    const reason =
      results.length > 0 ? undefined : await whyEmpty(place, column.way, filter, signal)
    return { ...column, results, elapsedMs, warnings, reason }
  } catch (error) {
    return { ...column, error }
  }
}

async function findIndexes(place: Place): Promise<readonly TableIndex[]> {
  if (place.kind === 'collection') return []
  const { status } = await command(place, 'listIndexes', { options: { explain: true } })
  return status['indexes'] as readonly TableIndex[]
}
