import { eventStream, type LoaderArgs } from 'millrace/server'
import { guestbookOf } from './guestbook.server.ts'

/** Tells open pages how the guestbook stands: at once, so that nothing is missed before, and after every change. */
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
    // Drops the entries in all tabs, but not once more in the tab whose call has brought them.
    { revalidate: ['guestbook'] },
  )
}
