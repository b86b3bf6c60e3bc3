import type { GuardArgs } from 'millrace/server'
import { requireAccount } from './users.server.ts'

/** Nobody without an account. */
export async function guard({ context }: GuardArgs) {
  await requireAccount(context)
}
