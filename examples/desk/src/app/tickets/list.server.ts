import type { LoaderArgs } from 'millrace/server'
import { requireUser } from '../accounts/users.server.ts'
import { liveUpdates } from '../site/live.server.ts'
import { timeIn } from '../locales.ts'
import { listTag, listTickets, type Filters } from './store.server.ts'

export { filters as search } from './store.server.ts'

export async function loader({ params, search, context, cache }: LoaderArgs<'/[locale]/tickets', Filters>) {
  const user = await requireUser(context)
  cache({ tags: [listTag(user)] })
  const { tickets, hasMore } = listTickets(context, user, search)
  const time = timeIn(params.locale)
  return { tickets: tickets.map((ticket) => ({ ...ticket, updated: time(ticket.updated) })), hasMore }
}

// Of `/events`.
export async function GET({ context }: LoaderArgs<'/[locale]/tickets/events'>) {
  return liveUpdates(listTag(await requireUser(context)))
}
