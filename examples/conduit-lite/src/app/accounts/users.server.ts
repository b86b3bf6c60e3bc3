import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import { defineStoredSession, unauthorized, type LoaderContext } from 'millrace/server'
import { databaseIn } from '../database.server.ts'

const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } // 32 MiB and some 200 ms, as OWASP advises
const KEY_BYTES = 32
const NOBODY = { id: undefined, password: `00:${'0'.repeat(2 * KEY_BYTES)}` }

const userRow = z.object({ id: z.number(), name: z.string(), avatar: z.string().nullable() })
const passwordRow = z.object({ id: z.number(), password: z.string() })

export const sessions = defineStoredSession({
  schema: z.object({ user: z.number().int() }),
  user: ({ user }) => String(user),
})

/** The account of the visitor, read once a request. */
export function readAccount(context: LoaderContext) {
  return context.once(readAccount, async () => {
    const { data } = await sessions.open(context)
    const user = databaseIn(context.dataDir).statement('SELECT id, name, avatar FROM users WHERE id = ?')
    return userRow.optional().parse(data && user.get(data.user))
  })
}

/** The guards ask here, and actions too: they can be called on any page. */
export async function requireAccount(context: LoaderContext) {
  return (await readAccount(context)) ?? unauthorized()
}

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** @returns the id of the new user, or `undefined` if the name is taken. */
export async function addUser(dataDir: string, name: string, password: string): Promise<number | undefined> {
  const salt = randomBytes(16)
  const key = (await derive(password, salt, KEY_BYTES, COST)).toString('hex')
  const add = 'INSERT INTO users (name, password) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id, password'
  return passwordRow.optional().parse(
    databaseIn(dataDir)
      .statement(add)
      .get(name, `${salt.toString('hex')}:${key}`),
  )?.id
}

/** @returns the id of the user with this password. An unknown name takes as long as a wrong password. */
export async function checkPassword(dataDir: string, name: string, password: string): Promise<number | undefined> {
  const row = databaseIn(dataDir).statement('SELECT id, password FROM users WHERE name = ?').get(name)
  const user = passwordRow.optional().parse(row) ?? NOBODY
  const [salt = Buffer.of(), key = Buffer.of()] = user.password.split(':').map((part) => Buffer.from(part, 'hex'))
  return timingSafeEqual(await derive(password, salt, KEY_BYTES, COST), key) ? user.id : undefined
}
