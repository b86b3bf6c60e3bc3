import { z } from 'zod'
import { defineSession } from 'millrace/server'
import { ROLES } from './roles.ts'

const MAX_AGE_SECONDS = 86_400 // a day of trying things out

/** Who is signed in to the lab. */
export const labSession = defineSession({
  name: 'lab',
  schema: z.object({ role: z.enum(ROLES) }),
  maxAgeSeconds: MAX_AGE_SECONDS,
})
