import { useCallback, useContext, useEffect, useMemo, useState } from 'react'
import type { LoaderData, ServerModuleShape } from '../module-types.ts'
import { RouterContext } from '../react/contexts.ts'
import { pageId } from '../react/route-view.ts'

/** Of one load. A session may become another at each answer. */
const MOST_RESTARTS = 3

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
}

interface FetcherResult<Data> {
  /** The load that this belongs to. */
  readonly of?: Reading
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
    const end = (settled: Omit<typeof result, 'of'>): void => {
      if (!controller.signal.aborted) setResult({ ...settled, of: reading })
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
  const load = useCallback((href: string) => setReading({ href, restarts: 0 }), [])
  const { of, data, error } = result
  useEffect(() => {
    const readAgain = ({ detail: isOther }: CustomEventInit): void => {
      if (isOther !== true || reading === undefined) return
      const restarts = reading === of ? 0 : reading.restarts + 1
      if (restarts > MOST_RESTARTS) return
      setResult({})
      setReading({ href: reading.href, restarts })
    }
    document.addEventListener('millrace:session', readAgain)
    return () => document.removeEventListener('millrace:session', readAgain)
  }, [reading, of])
  return useMemo(
    () => ({ state: reading === of ? 'idle' : 'loading', data, error, load }),
    [reading, of, data, error, load],
  )
}
