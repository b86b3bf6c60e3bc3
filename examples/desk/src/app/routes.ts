import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': {
    page: () => import('./site/not-found.tsx'), // never shown
    loader: () => import('./site/start.server.ts'),
    error: () => import('./site/error.tsx'),
    notFound: () => import('./site/not-found.tsx'),
    unauthorized: () => import('./accounts/sign-in.tsx'),
  },
  '/[locale]': {
    layout: () => import('./site/layout.tsx'),
    layoutLoader: () => import('./site/layout.server.ts'),
    page: () => import('./accounts/sign-in.tsx'),
    loader: () => import('./accounts/home.server.ts'),
    error: () => import('./site/error.tsx'),
    notFound: () => import('./site/not-found.tsx'),
    forbidden: () => import('./site/not-found.tsx'),
    unauthorized: () => import('./accounts/sign-in.tsx'),
  },
  '/[locale]/[...rest]': {
    page: () => import('./site/not-found.tsx'), // never shown
    loader: () => import('./site/nothing.server.ts'),
  },
  '/[locale]/enter': { page: () => import('./accounts/enter.tsx'), loader: () => import('./accounts/enter.server.ts') },
  '/[locale]/(desk)': { guard: () => import('./accounts/users.server.ts') },
  '/[locale]/(desk)/account': { page: () => import('./accounts/account.tsx') },
  '/[locale]/(desk)/tickets': {
    page: () => import('./tickets/page.tsx'),
    loader: () => import('./tickets/list.server.ts'),
  },
  '/[locale]/(desk)/tickets/events': { handler: () => import('./tickets/list.server.ts') },
  '/[locale]/(desk)/tickets/[id]': {
    layout: () => import('./ticket/layout.tsx'), // the ticket; pages below it are dialogs
    layoutLoader: () => import('./ticket/ticket.server.ts'),
    page: () => import('./ticket/no-dialog.tsx'),
  },
  '/[locale]/(desk)/tickets/[id]/edit': {
    guard: () => import('./stats/loader.server.ts'),
    page: () => import('./ticket/edit-dialog.tsx'),
  },
  '/[locale]/(desk)/tickets/[id]/events': { handler: () => import('./ticket/ticket.server.ts') },
  '/[locale]/(desk)/tickets/[id]/files/[file]': { handler: () => import('./ticket/files.server.ts') },
  '/[locale]/(desk)/new/[step]': {
    page: () => import('./new/page.tsx'),
    loader: () => import('./new/draft.server.ts'),
  },
  '/[locale]/(desk)/stats': {
    guard: () => import('./stats/loader.server.ts'),
    page: () => import('./stats/page.tsx'),
    loader: () => import('./stats/loader.server.ts'),
  },
  '/api': { guard: () => import('./api/guard.server.ts') },
  '/api/tickets': { handler: () => import('./api/tickets.server.ts') },
  '/api/tickets/[id]': { handler: () => import('./api/ticket.server.ts') },
})

declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
