/** One search result: rank, score, text, and its rank in the other searches. */
import { keyColumns, type Place } from '../api/place.ts'
import { idText } from '../data/document-id.ts'
import { excerptOf, markWords } from './matched-words.ts'
import {
  explainHybrid,
  factsOf,
  formatScore,
  ordinal,
  textOf,
  type SearchResult,
} from './search-results.ts'
import type { SearchModeName } from './search-ways.ts'

export interface ResultCardProps {
  readonly place: Place
  readonly result: SearchResult
  readonly rank: number
  readonly stems: ReadonlySet<string>
  /** Ranks of the document in the other search modes. */
  readonly elsewhere: readonly {
    readonly way: SearchModeName
    readonly rank: number | undefined
  }[]
  readonly isLinked: boolean
  readonly onPoint: (key: string | undefined) => void
  readonly onOpen: () => void
}

export function ResultCard(props: ResultCardProps) {
  const { place, result, rank, stems, elsewhere, onPoint } = props
  const { document, score, scores } = result
  const keys = place.kind === 'table' ? keyColumns(place) : ['_id']
  const text = textOf(document)
  return (
    <li
      class={`result ${props.isLinked ? 'linked' : ''}`}
      onMouseEnter={() => onPoint(result.key)}
      onMouseLeave={() => onPoint(undefined)}
    >
      <div class="result-head">
        <span class="result-rank">{rank}</span>
        <button
          type="button"
          class="result-name"
          title="Show in the Data tab"
          onClick={props.onOpen}
          onFocus={() => onPoint(result.key)}
          onBlur={() => onPoint(undefined)}
        >
          {idText(place, document)}
        </button>
        {score !== undefined && (
          <span class="result-score">
            {formatScore(score)} <small>{result.scoreLabel}</small>
          </span>
        )}
      </div>
      {score !== undefined && (
        <div class="score-bar" aria-hidden="true">
          <span style={{ width: `${result.bar * 100}%` }} />
        </div>
      )}
      {text !== '' && (
        <p class="result-text">
          <Marked text={excerptOf(text, stems)} stems={stems} />
        </p>
      )}
      <Facts facts={factsOf(document, keys)} stems={stems} />
      {scores !== undefined && <p class="result-why">{explainHybrid(scores, rank)}</p>}
      {elsewhere.length > 0 && (
        <ul class="result-elsewhere" aria-label="Rank in the other searches">
          {elsewhere.map(({ way, rank: other }) => (
            <li key={way} class={other === undefined ? 'absent' : ''}>
              {way}{' '}
              {other === undefined ? (
                <>
                  <span aria-hidden="true">–</span>
                  <span class="unseen">not found</span>
                </>
              ) : (
                ordinal(other)
              )}
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function Facts({
  facts,
  stems,
}: {
  readonly facts: readonly (readonly [string, string])[]
  readonly stems: ReadonlySet<string>
}) {
  if (facts.length === 0) return null
  return (
    <dl class="result-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Marked text={value} stems={stems} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A text whose matching words are in mark elements. */
function Marked({
  text,
  stems,
}: {
  readonly text: string
  readonly stems: ReadonlySet<string>
}) {
  return (
    <>
      {markWords(text, stems).map((piece, position) =>
        piece.isMatch ? <mark key={position}>{piece.text}</mark> : piece.text,
      )}
    </>
  )
}
