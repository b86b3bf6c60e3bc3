import { z } from 'zod'
import { action } from 'millrace/server'
import { guestbookIn } from './entries.server.ts'

export const sign = action({
  input: z.object({ name: z.string().trim().min(1, 'Please write your name.').max(80, 'That is too long.') }),
  handler({ input: { name }, context }) {
    guestbookIn(context.dataDir).statement('INSERT INTO entries (name, at) VALUES (?, ?)').run(name, Date.now())
    return { kind: 'signed', name } as const
  },
})
