import { defineRoutes } from 'millrace'

/** One page. */
export const routes = defineRoutes({ '/': { page: () => import('./page.tsx') } })
