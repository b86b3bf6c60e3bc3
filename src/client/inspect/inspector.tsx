import { useEffect, useInsertionEffect, useMemo, useReducer, type ReactNode } from 'react'
import { INSPECTOR_STYLE } from './inspector-style.ts'
import { inspectorSections } from './inspector-sections.ts'
import { InspectorView, type InspectorCommands } from './inspector-view.tsx'
import { observePage, type PageObserver } from './observe-page.ts'
import type { RouterInsight } from './router-insight.ts'
import { useInsight } from './use-insight.ts'

/** Props of `Inspector`. */
export interface InspectorProps {
  /** Shown on the server, while hydrating and without JavaScript. */
  readonly children?: ReactNode
}

const TICK_MS = 1_000 // ages are shown in whole seconds

/**
 * The state of the client router in this tab (cached data, requests, navigations), in the tables of the development panel.
 * Their test ids are `screen`, `entries`, `queue`, `requests`, `navigations` and so on.
 */
export function Inspector({ children }: InspectorProps) {
  const insight = useInsight()
  const observer = usePageObserver(insight)
  useTick()
  useInsertionEffect(() => adoptStyle(document), [])
  if (insight === undefined || observer === undefined) return children
  const sections = inspectorSections(insight, observer.facts())
  return <InspectorView tables={sections.flatMap(({ tables }) => tables)} commands={commandsOf(insight)} />
}

/** The commands of the tables, on the router of this tab; other tabs keep their data. */
export function commandsOf({ router, store }: Pick<RouterInsight, 'router' | 'store'>): InspectorCommands {
  return {
    drop: (path) => store.revalidate([path]),
    refetch(path) {
      router.forget([path])
      // What is on the screen is being fetched by now.
      router.prefetch(path)
    },
  }
}

/** Renders again every second. */
function useTick(): void {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0)
  useEffect(() => {
    const timer = setInterval(tick, TICK_MS)
    return () => clearInterval(timer)
  }, [])
}

function usePageObserver(insight: RouterInsight | undefined): PageObserver | undefined {
  const [, changed] = useReducer((changes: number) => changes + 1, 0)
  const isReady = insight !== undefined
  const observer = useMemo(() => (isReady ? observePage(window) : undefined), [isReady])
  useEffect(() => {
    if (observer === undefined || insight === undefined) return undefined
    const ends = [observer.subscribe(changed), observer.watchCache(insight.known, insight.subscribe)]
    return () => {
      ends.forEach((end) => end())
      observer.stop()
    }
  }, [observer, insight])
  return observer
}

function adoptStyle(document: Document): () => void {
  const style = new CSSStyleSheet()
  style.replaceSync(INSPECTOR_STYLE)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style]
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== style)
  }
}
