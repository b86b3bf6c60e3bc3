import { eventStream, type LoaderArgs } from 'millrace/server'
import { guestbookOf } from './guestbook.server.ts'

/** Sends the state of the guestbook to open pages: at once, so that they miss nothing, and after every change. */
export function GET({ context }: LoaderArgs<'/lab/guestbook/events'>): Response {
  const guestbook = guestbookOf(context)
  return eventStream(
    ({ send }) => {
      const tell = (isForeign: boolean): void => {
        const revision = guestbook.revision()
        send({ event: 'changed', id: String(revision), data: { revision, isForeign } })
      }
      const forget = guestbook.onChange(tell)
      tell(true)
      return forget
    },
    // Drops the entries in all tabs, except in the tab whose call already returned them.
    { revalidate: ['guestbook'] },
  )
}
