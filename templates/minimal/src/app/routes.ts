import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { page: () => import('./page.tsx') },
})

// Links, params and loader data are checked against the table.
declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
