import { hydrate } from 'millrace'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
import { texts } from './texts.ts'

void hydrate({ routes, document: Document, texts })
