import { hydrate } from 'millrace'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

hydrate({ routes, document: Document })
