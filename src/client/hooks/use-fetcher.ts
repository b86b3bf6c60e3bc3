import { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import type { LoaderData, ServerModuleShape } from '../module-types.ts'
import { RouterContext } from '../react/contexts.ts'
import { pageId } from '../react/route-view.ts'

/** Of one load. A session may become another at each answer. */
const MOST_RESTARTS = 3

/** Counts how often a session has become another in this document. */
function countChanges(): () => number {
  let changes = 0
  if (typeof document !== 'undefined') {
    document.addEventListener('millrace:session', ({ detail: isOther }: CustomEventInit) => {
      if (isOther === true) changes += 1
    })
  }
  return () => changes
}

const changes = countChanges()

/** Reads a page's data without navigating to it. */
export interface Fetcher<Data> {
  /** `loading` from `load` until its data or its error is there. */
  readonly state: 'idle' | 'loading'
  /** Of the last page that was loaded. */
  readonly data: Data | undefined
  /** Error of the last load. */
  readonly error: unknown
  /** Loads the data of a page of this site; aborts a previous load. Keeps its identity. */
  load(href: string): void
}

interface Reading {
  readonly href: string
  /** How often it was begun again because a session has become another meanwhile. */
  readonly restarts: number
  /** `changes` when it was begun. */
  readonly began: number
}

interface FetcherResult<Data> {
  /** The load that this belongs to. */
  readonly of?: Reading
  /** `changes` when it was there. */
  readonly at?: number
  readonly data?: Data
  readonly error?: unknown
}

/**
 * Reads the data of other pages, from the route cache if possible. When a session ends or becomes another, in this tab or
 * in another one, it forgets what it has read and reads it again.
 * @typeParam Module `typeof import('./loader.server.ts')` of the page to read.
 */
export function useFetcher<Module extends ServerModuleShape>(): Fetcher<LoaderData<Module>> {
  const router = useContext(RouterContext)
  const [reading, setReading] = useState<Reading | undefined>()
  const [result, setResult] = useState<FetcherResult<LoaderData<Module>>>({})
  useEffect(() => {
    if (reading === undefined || router === null) return undefined
    const controller = new AbortController()
    const end = (settled: Omit<typeof result, 'of' | 'at'>): void => {
      if (!controller.signal.aborted) setResult({ ...settled, of: reading, at: changes() })
    }
    router
      .read(reading.href, controller.signal)
      .then(({ chain, data, outcome }) => {
        const id = pageId(chain.at(-1)?.key ?? '')
        end(outcome === undefined ? { data: data[id] as LoaderData<Module> } : { error: outcome })
      })
      .catch((error: unknown) => end({ error }))
    // Only the next load ends this one: deferred values may still be streaming.
    return () => controller.abort()
  }, [reading, router])
  const load = useCallback((href: string) => setReading({ href, restarts: 0, began: changes() }), [])
  const { of, at, data, error } = result
  // Before it is painted: while an `Activity` is hidden, it hears nothing, and shown again it would show what it had.
  useLayoutEffect(() => {
    if (reading === undefined) return undefined
    const readAgain = (): void => {
      if ((reading === of ? at : reading.began) === changes()) return
      const restarts = reading === of ? 0 : reading.restarts + 1
      if (restarts > MOST_RESTARTS) return
      setResult({})
      setReading({ href: reading.href, restarts, began: changes() })
    }
    readAgain()
    document.addEventListener('millrace:session', readAgain)
    return () => document.removeEventListener('millrace:session', readAgain)
  }, [reading, of, at])
  // React may render an `Activity` that it shows again before its effects have compared.
  const isFormer = of !== undefined && at !== changes()
  const shown = isFormer ? undefined : data
  return useMemo(
    () => ({ state: reading === of && !isFormer ? 'idle' : 'loading', data: shown, error, load }),
    [reading, of, isFormer, shown, error, load],
  )
}
