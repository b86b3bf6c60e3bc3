import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

/** An application of one page with actions. */
export default defineApp({ routes, document: Document })
