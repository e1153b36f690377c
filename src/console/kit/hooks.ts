import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ConnectionError, isReachable } from '../api/send.ts'
import type { Store } from '../api/store.ts'

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get())
  useEffect(() => {
    const read = () => {
      setValue(() => store.get())
    }
    read()
    return store.watch(read)
  }, [store])
  return value
}

export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
  /** Loads again. The current value is kept until the reply arrives. */
  readonly reload: () => void
  /** Aborts the running load. The current value stays. */
  readonly cancel: () => void
}

/** The error of a load that the user has cancelled. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/**
 * Returns the state and result of `load`. When `inputs` change, aborts the running load and starts
 * another. A load that failed because the server was unreachable is repeated once the server is
 * reachable.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload' | 'cancel'>>(loading)
  const [turn, setTurn] = useState(0)
  const wanted = [...inputs, turn]
  /**
   * The inputs of the latest load. After a change, they differ from `wanted` until the effect runs.
   */
  const asked = useRef<readonly unknown[]>(wanted)
  const latest = useRef(load)
  latest.current = load
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    running.current = controller
    asked.current = wanted
    setState((before) => ({ ...before, error: undefined, isLoading: true }))
    latest.current(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted)
          setState({ value, error: undefined, isLoading: false })
      },
      (error: unknown) => {
        if (!controller.signal.aborted)
          setState({ value: undefined, error, isLoading: false })
      },
    )
    return () => {
      controller.abort()
    }
  }, wanted)
  const reload = useCallback(() => {
    setTurn((before) => before + 1)
  }, [])
  const cancel = useCallback(() => {
    running.current?.abort()
    const error = new Cancelled('You cancelled the request.')
    setState((before) => ({ ...before, error, isLoading: false }))
  }, [])
  const isBack = useStore(isReachable)
  useEffect(() => {
    if (isBack && state.error instanceof ConnectionError) reload()
  }, [isBack])
  const isBehind = wanted.some((input, position) => input !== asked.current[position])
  return { ...state, isLoading: state.isLoading || isBehind, reload, cancel }
}

/** Loads a module of the console. Throws a ConnectionError if it cannot be loaded. */
export async function loadModule<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    throw new ConnectionError('A part of the console could not be loaded.', {
      cause: error,
    })
  }
}

const loading = { value: undefined, error: undefined, isLoading: true }

/**
 * Runs an action, and returns its error and whether it is running. Ignores calls while it is
 * running.
 */
export function useAction<A extends readonly unknown[]>(
  action: (...args: A) => Promise<void>,
): {
  readonly run: (...args: A) => void
  readonly isBusy: boolean
  readonly error: unknown
  readonly clearError: () => void
} {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const isRunning = useRef(false)
  const run = (...args: A) => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    setError(undefined)
    action(...args)
      .catch((reason: unknown) => {
        setError(reason)
      })
      .finally(() => {
        isRunning.current = false
        setBusy(false)
      })
  }
  const clearError = () => {
    setError(undefined)
  }
  return { run, isBusy, error, clearError }
}

/** Whether the window matches a media query, such as `(width <= 600px)`. */
export function useMedia(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query])
  const [isMatch, setMatch] = useState(media.matches)
  useEffect(() => {
    const read = () => setMatch(media.matches)
    read()
    media.addEventListener('change', read)
    return () => media.removeEventListener('change', read)
  }, [media])
  return isMatch
}

let idCount = 0

/** A unique id for an element, to which a label can refer. */
export function useName(prefix: string): string {
  const [id] = useState(() => `${prefix}-${++idCount}`)
  return id
}
