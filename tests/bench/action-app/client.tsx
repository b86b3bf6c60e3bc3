import { hydrate } from '#client/hydrate'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

void hydrate({ routes, document: Document })
