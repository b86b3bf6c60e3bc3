import { notFound, type LoaderArgs, type LoaderContext } from 'millrace/server'
import { requireUser } from '../accounts/users.server.ts'
import { timeIn } from '../locales.ts'
import { liveUpdates } from '../site/live.server.ts'
import { commentsOf, findTicket, historyOf } from '../tickets/store.server.ts'

/** The visitor and the ticket; 404 where it is not there or somebody else's. */
export async function findForVisitor(context: LoaderContext, id: string) {
  const user = await requireUser(context)
  return { user, ticket: findTicket(context, user, id) ?? notFound() }
}

export async function loader({ params, context, cache }: LoaderArgs<'/[locale]/tickets/[id]'>) {
  const { user, ticket } = await findForVisitor(context, params.id)
  cache({ tags: [`ticket:${ticket.id}`] })
  const time = timeIn(params.locale)
  return {
    visitor: user.name,
    isAgent: user.role === 'agent',
    ticket: { ...ticket, created: time(ticket.created) },
    comments: commentsOf(context, ticket).map((comment) => ({ ...comment, at: time(comment.at) })),
    history: historyOf(context, ticket).then((all) => all.map((change) => ({ ...change, at: time(change.at) }))),
  }
}

/** Of `/events`. */
export async function GET({ params, context }: LoaderArgs<'/[locale]/tickets/[id]/events'>) {
  const { ticket } = await findForVisitor(context, params.id)
  return liveUpdates(`ticket:${ticket.id}`)
}
