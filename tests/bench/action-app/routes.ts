import { defineRoutes } from '#client'

/** One page. */
export const routes = defineRoutes({ '/': { page: () => import('./page.tsx') } })
