import { notFound, type LoaderArgs } from 'millrace/server'
import { currentUser, sessions } from '../accounts/users.server.ts'
import { env } from '../env.server.ts'
import { LOCALES } from '../locales.ts'

export async function loader({ params, context, cache }: LoaderArgs<'/[locale]'>) {
  if (LOCALES.every((locale) => locale !== params.locale)) notFound()
  const user = await currentUser(context)
  const message = (await sessions.open(context)).takeFlash()
  if (message !== undefined) cache({ lifetime: 'no-store' }) // else it is shown again
  const shown = user && { name: user.name, email: user.email, isAgent: user.role === 'agent' }
  return { origin: env.ORIGIN, message, user: shown }
}
