import { hydrate } from 'millrace'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

void hydrate({ routes, document: Document })
