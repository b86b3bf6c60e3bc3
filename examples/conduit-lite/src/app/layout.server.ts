import type { LoaderArgs } from 'millrace/server'
import { readAccount } from './accounts/users.server.ts'

export const guards = false

export async function loader({ context }: LoaderArgs<'/'>) {
  return { account: (await readAccount(context)) ?? null }
}
