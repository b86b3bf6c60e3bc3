import { z } from 'zod'
import { action, clientKey, external, href, redirect, refuseInput } from 'millrace/server'
import { env } from '../env.server.ts'
import { toLocale } from '../locales.ts'
import { writeMail } from '../mail.server.ts'
import { readLink } from './enter.server.ts'
import { findUser, keepUser, makeTokenFor, requireUser, sessions } from './users.server.ts'

const LINK_SECONDS = 15 * 60

// Faults are keys of the words, so that pages say them in the visitor's language.
const email = z.string().max(200, 'long').toLowerCase().pipe(z.email('email'))

/** Mails a link. On the page of a 401, it leads back to the page that was asked for. */
export const askLink = action({
  guarded: false,
  input: z.object({ email }),
  async handler({ input, context, params, request }) {
    // The client first: what its limit refuses must not count for the account.
    const byClient = await context.limit(`link from ${clientKey(context.address)}`, { points: 50, seconds: 600 })
    if (!byClient.allowed) refuseInput({ '': 'often' })
    const byAccount = await context.limit(`link to ${input.email}`, { points: 5, seconds: 600 })
    if (!byAccount.allowed) refuseInput({ '': 'often' })
    const locale = toLocale(params['locale'])
    const { pathname, search } = new URL(request.url)
    const link = { email: input.email, to: pathname + search }
    const token = await context.secrets.encrypt('link', link, LINK_SECONDS)
    writeMail(context, { email: input.email, locale }, 'link', { path: href('/[locale]/enter', { locale }, { token }) })
    return { kind: 'sent' } as const
  },
})

/** A look at the link changes nothing, since programs look at links in mails: the form behind it signs in. */
export const enter = action({
  guarded: false,
  input: z.object({ token: z.string().max(2_000), name: z.string().trim().max(80, 'long').default('') }),
  secret: ['token'],
  async handler({ input, context, params }) {
    const link = await readLink(context, input.token)
    if (link === undefined) refuseInput({ '': 'linkOld' })
    const name = input.name || findUser(context, 'email', link.email)?.name
    if (!name) refuseInput({ name: 'empty' })
    const role = env.AGENTS.split(',').includes(link.email) ? 'agent' : 'customer'
    const user = keepUser(context, { email: link.email, name, role, locale: toLocale(params['locale']) })
    const session = await sessions.open(context)
    await session.clear() // whatever the browser had before
    await session.set({ user: user.id })
    redirect(external(link.to), 303)
  },
})

export const signOut = action({
  guarded: false,
  async handler({ context, params }) {
    const session = await sessions.open(context)
    await session.clear()
    redirect(href('/[locale]', { locale: toLocale(params['locale']) }), 303)
  },
})

export const makeToken = action({
  async handler({ context }) {
    return { token: makeTokenFor(context, await requireUser(context)) }
  },
})
