import { z } from 'zod'
import { action } from 'millrace/server'
import { shellTag } from './shell-tag.ts'

/** Drops the shell of a key: in this process, in all others, and its data in browsers. */
export const drop = action({
  input: z.object({ key: z.string().max(200) }),
  handler({ input: { key }, revalidate }) {
    revalidate(shellTag(key))
  },
})

/** Keeps the visitor's name in the cookie that the slot shows. */
export const rename = action({
  input: z.object({ name: z.string().trim().min(1).max(40) }),
  handler({ input: { name }, context }) {
    context.headers.append('Set-Cookie', `visitor=${encodeURIComponent(name)}; Path=/; SameSite=Lax`)
  },
})
