import { z } from 'zod'
import { action, forbidden, href, redirect, type LoaderContext } from 'millrace/server'
import { findUser } from '../accounts/users.server.ts'
import { toLocale } from '../locales.ts'
import { STATUSES, UPLOAD } from '../tickets/kinds.ts'
import { addComment, changeStatus, editTicket, newTicket, tagsOf } from '../tickets/store.server.ts'
import { saveFiles } from './files.server.ts'
import { findForVisitor } from './ticket.server.ts'

export const comment = action({
  upload: UPLOAD,
  args: z.tuple([z.string()]),
  input: newTicket.pick({ text: true }),
  async handler({ args: [id], input: { text }, files, context, revalidate }) {
    const { user, ticket } = await findForVisitor(context, id)
    const saved = await saveFiles(context.dataDir, files)
    const other = findUser(context, 'id', (user.role === 'agent' ? ticket.customer : ticket.agent) ?? '')
    addComment(context, ticket, user, { text, files: saved, other })
    revalidate(...tagsOf(ticket))
    return { kind: 'sent' } as const
  },
})

async function findForAgent(context: LoaderContext, id: string) {
  const found = await findForVisitor(context, id)
  return found.user.role === 'agent' ? found : forbidden()
}

export const setStatus = action({
  args: z.tuple([z.string(), z.enum(STATUSES)]),
  async handler({ args: [id, status], context, revalidate }) {
    const { user, ticket } = await findForAgent(context, id)
    changeStatus(context, ticket.id, user, status)
    revalidate(...tagsOf(ticket))
  },
})

export const edit = action({
  args: z.tuple([z.string()]),
  input: newTicket.omit({ text: true }),
  async handler({ args: [id], input, context, params, revalidate }) {
    const { ticket } = await findForAgent(context, id)
    editTicket(context, ticket, input)
    revalidate(...tagsOf(ticket))
    redirect(href('/[locale]/tickets/[id]', { locale: toLocale(params['locale']), id }), 303)
  },
})
