import { useContext, useEffect, useEffectEvent, useState } from 'react'
import { withBasePath } from '../../shared/base-path.ts'
import type { LinkTarget } from '../../shared/link-target.ts'
import { DROPS_EVENT, type DropsMessage } from '../../shared/protocol/drops-event.ts'
import { RouterContext } from '../react/contexts.ts'
import { createLiveData } from './live-data.ts'
import { createSharedEvents } from './shared-events.ts'

/** What a page does with events, by their name; `message` for those without one. */
export type EventHandlers = Readonly<Record<string, (data: never, id: string) => void>>

const world = {
  document: globalThis.document,
  connect: (url: string) => new EventSource(url),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
  report: (error: unknown) => reportError(error),
}
const listenToUrl = createSharedEvents(world)
const followDrops = createLiveData(world)

/**
 * Listens to an event stream of this site while the component is shown. All components of a tab that listen to one URL
 * share a connection. A hidden tab does not listen; when it is shown again, it connects with the id of the last event.
 *
 * If the stream names targets of `revalidate`, the browser drops the same data as the server, and reloads what is on screen
 * if it is older: with any lifetime, and also for drops before the stream was open.
 * @param to path of a handler that answers with `eventStream`; `undefined` listens to nothing.
 * @param handlers functions by the event's name, which get its data and its id. They see the latest props and state.
 * @returns whether the stream is open; `false` on the server.
 * @example
 * ```tsx
 * import { useEvents } from 'millrace'
 *
 * export function Live() {
 *   const isOpen = useEvents('/events', { tick: (data: { readonly at: number }) => console.log(data.at) })
 *   return <p>{isOpen ? 'Live' : 'Connecting …'}</p>
 * }
 * ```
 */
export function useEvents<To extends string>(to: LinkTarget<To> | undefined, handlers: EventHandlers = {}): boolean {
  const router = useContext(RouterContext)
  const [isOpen, setOpen] = useState(false)
  const hear = useEffectEvent((name: string, data: unknown, id: string) => {
    // Of the next user.
    if (router?.isFormer) return
    if (name === DROPS_EVENT && router) followDrops(router, data as DropsMessage)
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
    handler?.(data as never, id)
  })
  const names = JSON.stringify(Object.keys(handlers).toSorted())
  useEffect(() => {
    if (to === undefined) return
    return listenToUrl(withBasePath(to), {
      names: JSON.parse(names) as readonly string[],
      hear: (name, data, id) => hear(name, data, id),
      hearUsers: (marks, askedAt) => router?.hearUsers?.(marks, askedAt),
      connected: setOpen,
    })
  }, [to, names, router])
  return isOpen && to !== undefined
}
