import { eventStream, type LoaderArgs } from 'millrace/server'
import { guestbookOf } from './guestbook.server.ts'

/** Tells open pages how the guestbook stands: at once, so that nothing is missed before, and after every change. */
export function GET({ context }: LoaderArgs<'/lab/guestbook/events'>): Response {
  const guestbook = guestbookOf(context)
  return eventStream(({ send }) => {
    const tell = (): void => {
      const revision = guestbook.revision()
      send({ event: 'changed', id: String(revision), data: { revision } })
    }
    const forget = guestbook.onChange(tell)
    tell()
    return forget
  })
}
