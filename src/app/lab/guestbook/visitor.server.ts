import { z } from 'zod'
import { defineSession } from 'millrace/server'

const MAX_AGE_SECONDS = 600 // an entry is its author's for a minute; nobody needs to be known for longer

/** The author of an entry: a random id in a cookie, set with the first entry. */
export const visitorSession = defineSession({
  name: 'guestbook',
  schema: z.object({ visitor: z.uuid() }),
  maxAgeSeconds: MAX_AGE_SECONDS,
})
