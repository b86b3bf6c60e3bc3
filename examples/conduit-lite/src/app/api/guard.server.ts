import type { GuardArgs } from 'millrace/server'
import { requireAccount } from '../accounts/users.server.ts'

/** Anyone may read. Changes need an account. */
export async function guard({ request, context }: GuardArgs<'/api'>) {
  if (request.method !== 'GET' && request.method !== 'HEAD') await requireAccount(context)
}
