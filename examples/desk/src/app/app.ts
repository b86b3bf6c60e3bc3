import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { env } from './env.server.ts'
import { startJobs } from './mail.server.ts'
import { routes } from './routes.ts'
import { texts } from './texts.ts'

export default defineApp({ routes, document: Document, env, texts, start: startJobs })
