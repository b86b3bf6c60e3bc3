import { z } from 'zod'
import { action } from 'millrace/server'
import { sharedTag } from './shared-tag.ts'

/** Drops what is kept under a key: in this process, in all others, and in browsers. */
export const drop = action({
  input: z.object({ key: z.string().max(200) }),
  handler({ input: { key }, revalidate }) {
    revalidate(sharedTag(key))
  },
})
