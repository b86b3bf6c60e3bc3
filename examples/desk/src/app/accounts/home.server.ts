import { href, redirect, type LoaderArgs } from 'millrace/server'
import { currentUser } from './users.server.ts'

export async function loader({ params, context }: LoaderArgs<'/[locale]'>) {
  if ((await currentUser(context)) !== undefined) redirect(href('/[locale]/tickets', params))
}
