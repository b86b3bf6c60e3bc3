import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { layout: () => import('./layout.tsx'), page: () => import('./home-page.tsx') },
  '/mantine': { layout: () => import('./mantine/layout.tsx'), page: () => import('./mantine/page.tsx') },
  '/emotion': {
    layout: () => import('./emotion/style-cache.tsx'),
    page: () => import('./emotion/page.tsx'),
    loader: () => import('./emotion/loader.server.ts'),
  },
  '/radix': { page: () => import('./radix/page.tsx') },
  '/query': { page: () => import('./query/page.tsx'), loader: () => import('./query/loader.server.ts') },
  '/query/level.json': { handler: () => import('./query/level.server.ts') },
  '/modal': { page: () => import('./modal/page.tsx') },
})

declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
