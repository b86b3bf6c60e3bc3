import { action, href, redirect, type LoaderContext } from 'millrace/server'
import { requireUser, sessions } from '../accounts/users.server.ts'
import { toLocale, type Locale } from '../locales.ts'
import { saveFiles } from '../ticket/files.server.ts'
import { UPLOAD } from '../tickets/kinds.ts'
import { addTicket, newTicket, type NewTicket } from '../tickets/store.server.ts'
import { WORDS } from '../words.ts'
import { readDraft, writeDraft } from './draft.server.ts'

async function saveStep(
  context: LoaderContext,
  part: Partial<NewTicket>,
  locale: Locale,
  next: string,
): Promise<never> {
  const user = await requireUser(context)
  writeDraft(context, user, { ...readDraft(user), ...part })
  redirect(href('/[locale]/new/[step]', { locale, step: next }), 303)
}

export const saveTopic = action({
  input: newTicket.omit({ text: true }),
  handler: ({ input, context, params }) => saveStep(context, input, toLocale(params['locale']), 'details'),
})

export const saveDetails = action({
  input: newTicket.pick({ text: true }),
  handler: ({ input, context, params }) => saveStep(context, input, toLocale(params['locale']), 'review'),
})

export const send = action({
  upload: UPLOAD,
  async handler({ files, context, params, revalidate }) {
    const user = await requireUser(context)
    const locale = toLocale(params['locale'])
    const draft = newTicket.safeParse(readDraft(user))
    if (!draft.success) redirect(href('/[locale]/new/[step]', { locale, step: 'topic' }), 303)
    const id = addTicket(context, user, draft.data, await saveFiles(context.dataDir, files))
    writeDraft(context, user, {})
    revalidate('tickets', `tickets:${user.id}`)
    const session = await sessions.open(context)
    await session.flash(WORDS[locale].sent)
    redirect(href('/[locale]/tickets/[id]', { locale, id: String(id) }), 303)
  },
})
