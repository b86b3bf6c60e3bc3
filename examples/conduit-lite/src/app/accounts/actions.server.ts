import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { action, clientKey, redirect, refuseInput, type LoaderContext } from 'millrace/server'
import { databaseIn } from '../database.server.ts'
import { folderIn, keepAvatar } from './avatars.server.ts'
import { addUser, checkPassword, requireAccount, sessions } from './users.server.ts'

const TRIES = { points: 10, seconds: 60 } // of one client: each costs 200 ms of a processor
const MOST_PICTURE_BYTES = 256 * 1024

/** Begins the session of the user that `find` finds, or says what is wrong. */
async function enter(context: LoaderContext, find: () => Promise<number | undefined>, fault: Record<string, string>) {
  const { allowed } = await context.limit(`password ${clientKey(context.address)}`, TRIES)
  if (!allowed) refuseInput({ name: 'Too many tries. Wait a minute.' })
  const user = await find()
  if (user === undefined) return refuseInput(fault)
  await (await sessions.open(context)).set({ user })
}

/** Both ways in have `guarded: false`: their forms are on the page of a 401 too, and what was asked for follows. */
export const signUp = action({
  guarded: false,
  input: z.object({
    name: z.string().regex(/^[\w-]{2,24}$/, 'A name has 2 to 24 letters, digits, hyphens and underscores.'),
    password: z.string().min(10, 'At least ten characters.').max(200, 'At most 200 characters.'),
  }),
  handler: ({ input: { name, password }, context }) =>
    enter(context, () => addUser(context.dataDir, name, password), { name: 'This name is taken.' }),
})

export const signIn = action({
  guarded: false,
  input: z.object({ name: z.string().max(24).trim(), password: z.string().max(200) }),
  handler: ({ input: { name, password }, context }) =>
    enter(context, () => checkPassword(context.dataDir, name, password), {
      password: 'The name or the password is wrong.',
    }),
})

export const signOut = action({
  guarded: false,
  async handler({ context }) {
    await (await sessions.open(context)).clear()
    redirect('/')
  },
})

export const endDevice = action({
  args: z.tuple([z.string().max(100)]),
  async handler({ args: [id], context }) {
    await (await sessions.open(context)).end(id)
  },
})

export const changePicture = action({
  input: z.object({ picture: z.file().max(MOST_PICTURE_BYTES, 'At most 256 kB.') }),
  async handler({ input: { picture }, context, revalidate }) {
    const { id, avatar: former } = await requireAccount(context)
    const avatar = await keepAvatar(context.dataDir, picture)
    if (avatar === undefined) return refuseInput({ picture: 'Choose a PNG, JPEG or WebP picture.' })
    databaseIn(context.dataDir).statement('UPDATE users SET avatar = ? WHERE id = ?').run(avatar, id)
    if (former !== null) context.after(() => rm(join(folderIn(context.dataDir), former), { force: true }))
    revalidate('/*')
  },
})
