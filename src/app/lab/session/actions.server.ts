import { z } from 'zod'
import { action } from 'millrace/server'
import { ROLES } from './roles.ts'
import { labSession } from './session.server.ts'

/** Signs in as whatever the button says: the lab asks nobody for a password. */
export const signIn = action({
  input: z.object({ role: z.enum(ROLES) }),
  async handler({ input: { role }, context, revalidate }) {
    const session = await labSession.open(context)
    await session.set({ role })
    await session.flash(`You are signed in as ${role}.`)
    revalidate('session')
  },
})

/** Signs out. */
export const signOut = action({
  async handler({ context, revalidate }) {
    const session = await labSession.open(context)
    await session.clear()
    await session.flash('You are signed out.')
    revalidate('session')
  },
})
