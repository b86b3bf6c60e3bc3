import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { page: () => import('./page.tsx') },
})
