import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { action, clientKey } from 'millrace/server'
import { messageFault, nameFault, tidyMessage, tidyName } from './entry.ts'
import { guestbookOf } from './guestbook.server.ts'
import { visitorSession } from './visitor.server.ts'

const SIGN_LIMIT = { points: 30, seconds: 60 } // for a whole household behind one address

const fieldOf = (tidy: (text: string) => string, fault: (text: string) => string | undefined) =>
  z
    .string({ error: () => fault('') ?? 'Please fill this in.' })
    .transform(tidy)
    .superRefine((text, { addIssue }) => {
      const message = fault(text)
      if (message !== undefined) addIssue(message)
    })

/** Writes an entry. */
export const sign = action({
  input: z.object({ name: fieldOf(tidyName, nameFault), message: fieldOf(tidyMessage, messageFault) }),
  async handler({ input, context, revalidate }) {
    const { allowed, retryAfterSeconds } = await context.limit(`guestbook ${clientKey(context.address)}`, SIGN_LIMIT)
    if (!allowed) {
      const wait = retryAfterSeconds === 1 ? 'a second' : `${retryAfterSeconds} seconds`
      return {
        kind: 'limited' as const,
        reason: `So many entries have come from your address that this one was not taken. Send it again in ${wait}.`,
        values: input,
      }
    }
    const session = await visitorSession.open(context)
    const visitor = session.data?.visitor ?? randomUUID()
    // A cookie that is set makes all tabs load everything again.
    if (session.data === undefined) await session.set({ visitor })
    guestbookOf(context).sign({ ...input, visitor }, Date.now())
    revalidate('guestbook')
    return { kind: 'signed' as const, name: input.name }
  },
})

/** Deletes the visitor's own entry. Which one is bound in front; whose it is, the cookie says. */
export const remove = action({
  args: z.tuple([z.int()]),
  async handler({ args: [id], context, revalidate }) {
    const { data } = await visitorSession.open(context)
    const removed = data !== undefined && guestbookOf(context).remove(id, data.visitor, Date.now())
    revalidate('guestbook')
    return removed ? undefined : { kind: 'kept' as const, reason: 'Its minute is over: the entry stays.' }
  },
})
