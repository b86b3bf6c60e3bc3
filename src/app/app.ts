import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
import { rules } from './rules.ts'

export default defineApp({ routes, rules, document: Document, security: { trustedTypes: true } })
