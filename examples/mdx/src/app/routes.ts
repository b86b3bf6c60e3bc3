import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { page: () => import('./page.mdx') },
  '/notes': { page: () => import('./notes.mdx') },
})

declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
