import type { LoaderArgs } from 'millrace/server'
import { requireAccount, sessions } from './users.server.ts'

export async function loader({ context, cache }: LoaderArgs<'/account'>) {
  cache({ lifetime: 'no-store' })
  const { name, avatar } = await requireAccount(context)
  return { name, avatar, devices: await (await sessions.open(context)).devices() }
}
