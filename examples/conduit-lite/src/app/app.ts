import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

export default defineApp({ routes, document: Document })
