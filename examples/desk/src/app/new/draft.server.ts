import { href, notFound, redirect, type LoaderArgs } from 'millrace/server'
import { requireUser, type User } from '../accounts/users.server.ts'
import { databaseIn, type Where } from '../database.server.ts'
import type { NewTicket } from '../tickets/store.server.ts'

const STEPS = ['topic', 'details', 'review'] as const

/** What a visitor's next ticket has so far. */
export const readDraft = ({ draft }: User): Partial<NewTicket> => JSON.parse(draft)

export function writeDraft(where: Where, { id }: User, draft: Partial<NewTicket>): void {
  databaseIn(where).statement('UPDATE users SET draft = ? WHERE id = ?').run(JSON.stringify(draft), id)
}

export async function loader({ params, context, cache }: LoaderArgs<'/[locale]/new/[step]'>) {
  cache({ lifetime: 'no-store' })
  const step = STEPS.find((known) => known === params.step) ?? notFound()
  const draft = readDraft(await requireUser(context))
  const first = draft.subject === undefined ? 'topic' : draft.text === undefined ? 'details' : 'review'
  if (STEPS.indexOf(step) > STEPS.indexOf(first)) redirect(href('/[locale]/new/[step]', { ...params, step: first }))
  return { step, draft }
}
