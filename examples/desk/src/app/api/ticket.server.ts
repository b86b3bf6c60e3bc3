import { z } from 'zod'
import { forbidden, notFound, type HandlerArgs, type LoaderArgs } from 'millrace/server'
import { STATUSES } from '../tickets/kinds.ts'
import { changeStatus, commentsOf, findTicket, tagsOf } from '../tickets/store.server.ts'
import { apiUser } from './guard.server.ts'

export const body = z.object({ status: z.enum(STATUSES) })

type Args = LoaderArgs<'/api/tickets/[id]'>
type NewStatus = z.output<typeof body>

async function find(args: Pick<Args, 'context' | 'request' | 'params'>) {
  const user = await apiUser(args)
  return { user, ticket: findTicket(args.context, user, args.params.id) ?? notFound() }
}

export async function GET(args: Args) {
  const { ticket } = await find(args)
  return Response.json({ ...ticket, comments: commentsOf(args.context, ticket) })
}

export async function PATCH({ body: { status }, ...args }: HandlerArgs<'/api/tickets/[id]', NewStatus>) {
  const { user, ticket } = await find(args)
  if (user.role !== 'agent') forbidden()
  changeStatus(args.context, ticket.id, user, status)
  await args.context.revalidate(...tagsOf(ticket))
  return new Response(null, { status: 204 })
}
