import { hash, randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { defineStoredSession, forbidden, unauthorized, type GuardArgs, type LoaderContext } from 'millrace/server'
import { databaseIn, type Where } from '../database.server.ts'
import type { Locale } from '../locales.ts'

type Texts = Record<'id' | 'email' | 'name' | 'draft', string>
export type User = Readonly<Texts & { role: 'agent' | 'customer'; locale: Locale }>

/** @param text for `token` the token's hash. */
export function findUser(where: Where, column: 'id' | 'email' | 'token', text: string): User | undefined {
  return databaseIn(where).statement(`SELECT * FROM users WHERE ${column} = ?`).get(text) as User | undefined
}

/** Adds a user, or changes role and language of the one with this address. */
export function keepUser(where: Where, user: Omit<User, 'id' | 'draft'>): User {
  const sql = `INSERT INTO users (id, email, name, role, locale) VALUES (:id, :email, :name, :role, :locale)
    ON CONFLICT (email) DO UPDATE SET role = excluded.role, locale = excluded.locale RETURNING *`
  const kept = databaseIn(where)
    .statement(sql)
    .get({ ...user, id: randomUUID() })
  return kept as unknown as User
}

/** A token for the API. The file holds its hash only. */
export function makeTokenFor(where: Where, { id }: User): string {
  const token = randomBytes(24).toString('base64url')
  databaseIn(where).statement('UPDATE users SET token = ? WHERE id = ?').run(hash('sha256', token), id)
  return token
}

export const sessions = defineStoredSession({ schema: z.object({ user: z.string() }), user: ({ user }) => user })

export function currentUser(context: LoaderContext): Promise<User | undefined> {
  return context.once('user', async () => {
    const { data } = await sessions.open(context)
    return data === undefined ? undefined : findUser(context, 'id', data.user)
  })
}

export async function requireUser(context: LoaderContext): Promise<User> {
  return (await currentUser(context)) ?? unauthorized()
}

/** Of entries for everybody who has signed in. */
export async function guard({ context }: GuardArgs): Promise<void> {
  await requireUser(context)
}

/** Of entries for agents: `export { agentGuard as guard }`. */
export async function agentGuard({ context }: GuardArgs): Promise<void> {
  if ((await requireUser(context)).role !== 'agent') forbidden()
}
