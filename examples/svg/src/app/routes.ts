import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { page: () => import('./page.tsx') },
})

declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
