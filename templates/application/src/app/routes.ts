import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': {
    layout: () => import('./layout.tsx'),
    page: () => import('./home-page.tsx'),
    error: () => import('./fallbacks/error.tsx'),
    notFound: () => import('./fallbacks/not-found.tsx'),
    forbidden: () => import('./fallbacks/forbidden.tsx'),
    unauthorized: () => import('./fallbacks/unauthorized.tsx'),
  },
  '/mills/[id]': {
    page: () => import('./mills/page.tsx'),
    loader: () => import('./mills/loader.server.ts'),
  },
  '/guestbook': {
    page: () => import('./guestbook/page.tsx'),
    loader: () => import('./guestbook/entries.server.ts'),
  },
})

// Links, params and loader data are checked against the table.
declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
