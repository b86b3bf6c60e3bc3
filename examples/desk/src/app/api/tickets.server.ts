import { withBasePath } from 'millrace'
import { href, type HandlerArgs, type LoaderArgs } from 'millrace/server'
import { addTicket, listTickets, type Filters, type NewTicket } from '../tickets/store.server.ts'
import { apiUser } from './guard.server.ts'

export { filters as search, newTicket as body } from '../tickets/store.server.ts'

export async function GET({ search, ...args }: LoaderArgs<'/api/tickets', Filters>) {
  return Response.json(listTickets(args.context, await apiUser(args), search))
}

export async function POST({ body, ...args }: HandlerArgs<'/api/tickets', NewTicket>) {
  const user = await apiUser(args)
  const id = addTicket(args.context, user, body, [])
  await args.context.revalidate('tickets', `tickets:${user.id}`)
  const headers = { Location: withBasePath(href('/api/tickets/[id]', { id: String(id) })) }
  return Response.json({ id }, { status: 201, headers })
}
