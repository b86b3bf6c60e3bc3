import type { routes } from './routes.ts'

// Apart from the table: tests compile parts of this application together with those that have tables of their own.
declare module 'millrace' {
  interface Register {
    routes: typeof routes
  }
}
