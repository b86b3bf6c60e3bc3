/** What pages, layouts and fallbacks of an application may import. Safe on the server and in the browser. */
export { defineRoutes } from './define-routes.ts'
export { Link, type LinkProps, type Prefetch } from './react/link.tsx'
export { href } from '../shared/href.ts'
export { forbidden, notFound, permanentRedirect, redirect, unauthorized } from '../shared/control-flow.ts'
export type { Params } from '../shared/route-pattern.ts'
export type {
  DocumentProps,
  ErrorProps,
  LayoutProps,
  LoaderData,
  Metadata,
  PageProps,
  SearchOf,
} from './module-types.ts'
