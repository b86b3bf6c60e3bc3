import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': {
    layout: () => import('./layout.tsx'),
    layoutLoader: () => import('./layout.server.ts'),
    page: () => import('./articles/list-page.tsx'),
    loader: () => import('./articles/list.server.ts'),
    notFound: () => import('./refused.tsx'),
    forbidden: () => import('./refused.tsx'),
    unauthorized: () => import('./accounts/sign-in-page.tsx'),
  },
  '/articles/[slug]': {
    page: () => import('./articles/page.tsx'),
    loader: () => import('./articles/loader.server.ts'),
  },
  '/articles/[slug]/events': { handler: () => import('./articles/events.server.ts') },
  '/write': { guard: () => import('./accounts/guard.server.ts') },
  '/write/[[...slug]]': { page: () => import('./write/page.tsx'), loader: () => import('./write/loader.server.ts') },
  '/account': {
    guard: () => import('./accounts/guard.server.ts'),
    page: () => import('./accounts/page.tsx'),
    loader: () => import('./accounts/loader.server.ts'),
  },
  '/avatars/[file]': { handler: () => import('./accounts/avatars.server.ts') },
  '/api': { guard: () => import('./api/guard.server.ts') },
  '/api/articles': { handler: () => import('./api/articles.server.ts') },
  '/api/articles/[slug]': { handler: () => import('./api/article.server.ts') },
})

// Links, params and loader data are checked against the table.
declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
