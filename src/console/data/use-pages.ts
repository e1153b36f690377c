/** Pages forward and back through the page states that the API returned. */
import { useState } from 'preact/hooks'
import type { TraceDetail } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { useLoad } from '../kit/hooks.ts'
import { findPage, type FindFields, type FoundPage } from './find-page.ts'

export interface Pages {
  readonly page: FoundPage | undefined
  readonly error: unknown
  readonly isLoading: boolean
  /** Page number, from 1. */
  readonly number: number
  /** Number of documents on earlier pages. */
  readonly before: number
  readonly goBack: (() => void) | undefined
  readonly goForward: (() => void) | undefined
  readonly reload: () => void
  readonly cancel: () => void
}

interface Step {
  readonly state: string | null
  readonly before: number
}

const start: readonly Step[] = [{ state: null, before: 0 }]

export interface PageOptions {
  readonly pageSize: number
  readonly trace?: TraceDetail | undefined
  /** Whether the hook requests pages; true by default. */
  readonly isOn?: boolean
}

/**
 * Reads the pages of a query. `key` identifies the query: if it changes, reading restarts at the
 * first page.
 */
export function usePages(
  place: Place,
  fields: FindFields,
  key: string,
  { pageSize, trace, isOn = true }: PageOptions,
): Pages {
  const query = `${key} ${pageSize}`
  const [steps, setSteps] = useState({ query, taken: start })
  const { taken } = steps.query === query ? steps : { taken: start }
  const current = taken.at(-1)!
  const loaded = useLoad(
    async (signal) => {
      if (!isOn) return undefined
      const options = { pageSize, pageState: current.state, trace, signal }
      return findPage(place, fields, options)
    },
    [query, current.state, isOn, trace],
  )
  const { value: page, error, isLoading, reload, cancel } = loaded
  const goTo = (next: readonly Step[]) => setSteps({ query, taken: next })
  return {
    page,
    error,
    isLoading,
    number: taken.length,
    before: current.before,
    goBack: taken.length > 1 ? () => goTo(taken.slice(0, -1)) : undefined,
    goForward:
      page === undefined || page.next === null || isLoading
        ? undefined
        : () =>
            goTo([
              ...taken,
              { state: page.next, before: current.before + page.documents.length },
            ]),
    reload,
    cancel,
  }
}
