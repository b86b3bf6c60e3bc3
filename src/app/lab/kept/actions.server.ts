import { z } from 'zod'
import { action } from 'millrace/server'
import { keptTag } from './kept-tag.ts'

/** Drops the document of a key: in this process, in all others, and its data in browsers. */
export const drop = action({
  input: z.object({ key: z.string().max(200) }),
  handler({ input: { key }, revalidate }) {
    revalidate(keptTag(key))
  },
})
