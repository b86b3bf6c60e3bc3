import { defineRoutes, hydrate } from 'millrace'
import { Document } from '../../../src/app/document.tsx'

/** An application of one page: what is left of its scripts is the runtime. Bundled by `router-weight.ts`, never run. */
hydrate({ routes: defineRoutes({ '/': { page: () => import('./page.tsx') } }), document: Document })
