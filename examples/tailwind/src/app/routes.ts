import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { layout: () => import('./layout.tsx'), page: () => import('./page.tsx') },
})

declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
