import { hash } from 'node:crypto'
import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
import { rules } from './rules.ts'
import { THEME_SCRIPT } from './site/theme.ts'

export default defineApp({
  routes,
  rules,
  document: Document,
  security: {
    trustedTypes: true,
    sources: { 'script-src': [`'sha256-${hash('sha256', THEME_SCRIPT, 'base64')}'`] },
  },
})
