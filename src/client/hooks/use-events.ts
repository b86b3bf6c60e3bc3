import { useEffect, useEffectEvent, useState } from 'react'
import { withBasePath } from '../../shared/base-path.ts'
import type { LinkTarget } from '../../shared/link-target.ts'
import { createSharedEvents, REVALIDATE } from './shared-events.ts'
import { useNavigate } from './use-router.ts'

/** What a page does with events, by their name; `message` for those without one. */
export type EventHandlers = Readonly<Record<string, (data: never, id: string) => void>>

const listenToUrl = createSharedEvents({
  document: globalThis.document,
  connect: (url) => new EventSource(url),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
  report: (error) => reportError(error),
})

/**
 * Listens to an event stream of this site while the component is shown. All components of a tab that listen to one URL
 * share a connection. A hidden tab does not listen; when it is shown again, it connects with the id of the last event.
 *
 * Where the stream names targets of `revalidate`, the browser drops what the server drops, and loads it again if it is on
 * screen.
 * @param to path of a handler that answers with `eventStream`; `undefined` listens to nothing.
 * @param handlers functions by the event's name, which get its data and its id. They see the latest props and state.
 * @returns whether the stream is open; `false` on the server.
 */
export function useEvents<To extends string>(to: LinkTarget<To> | undefined, handlers: EventHandlers = {}): boolean {
  const { revalidate } = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const hear = useEffectEvent((name: string, data: unknown, id: string) => {
    if (name === REVALIDATE && Array.isArray(data)) revalidate(...data.filter((one) => typeof one === 'string'))
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
    handler?.(data as never, id)
  })
  const names = JSON.stringify(Object.keys(handlers).toSorted())
  useEffect(() => {
    if (to === undefined) return
    return listenToUrl(withBasePath(to), {
      names: JSON.parse(names) as readonly string[],
      hear: (name, data, id) => hear(name, data, id),
      connected: setOpen,
    })
  }, [to, names])
  return isOpen && to !== undefined
}
