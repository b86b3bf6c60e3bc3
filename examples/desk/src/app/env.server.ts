import { defineEnv } from 'millrace/server'
import { z } from 'zod'

export const env = defineEnv(
  z.object({
    ORIGIN: z.url().default('http://localhost:3000'),
    SMTP_URL: z.url().optional(), // without it, mails are files in DATA_DIR/mails
    JOB_SECONDS: z.coerce.number().min(0.1).default(5),
    AGENTS: z.string().default('agent@desk.example'), // visitors with these addresses are agents
  }),
)
