import { eventStream } from 'millrace/server'

const MEMBER_MS = 60_000 // then browsers connect again, and the guard asks who they are

/** An event stream without events of its own: pages that listen drop what has this tag when it changes. */
export function liveUpdates(tag: string): Response {
  return eventStream(
    ({ end }) => {
      const timer = setTimeout(end, MEMBER_MS)
      return () => clearTimeout(timer)
    },
    { revalidate: [tag] },
  )
}
