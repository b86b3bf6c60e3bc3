import { defineRoutes } from 'millrace'

/** The fallbacks inside an area: the layouts around them keep the site's chrome. */
const areaFallbacks = {
  error: () => import('./site/fallbacks/error.tsx'),
  notFound: () => import('./site/fallbacks/not-found.tsx'),
  forbidden: () => import('./site/fallbacks/forbidden.tsx'),
  unauthorized: () => import('./site/fallbacks/unauthorized.tsx'),
}

/**
 * The route table. `/(site)` carries the site's chrome, `/(bench)` has none. The boundaries of `/` are outside every
 * layout, so they bring the chrome themselves.
 */
export const routes = defineRoutes({
  '/': {
    error: () => import('./site/fallbacks/root-error.tsx'),
    notFound: () => import('./site/fallbacks/root-not-found.tsx'),
    forbidden: () => import('./site/fallbacks/root-forbidden.tsx'),
    unauthorized: () => import('./site/fallbacks/root-unauthorized.tsx'),
  },
  '/(site)': {
    layout: () => import('./site/layout.tsx'),
    page: () => import('./home/page.tsx'),
    loader: () => import('./home/loader.server.ts'),
  },

  '/(site)/docs': {
    ...areaFallbacks,
    layout: () => import('./docs/layout.tsx'),
    layoutLoader: () => import('./docs/layout-loader.server.ts'),
  },
  '/(site)/docs/[[...slug]]': {
    page: () => import('./docs/page.tsx'),
    loader: () => import('./docs/loader.server.ts'),
  },
  '/(site)/docs/search': {
    page: () => import('./docs/search-page.tsx'),
    loader: () => import('./docs/search-loader.server.ts'),
  },

  '/(site)/lab': {
    ...areaFallbacks,
    layout: () => import('./lab/layout.tsx'),
    page: () => import('./lab/page.tsx'),
  },
  '/(site)/lab/source/[...path]': {
    cache: 'shared',
    page: () => import('./source/page.tsx'),
    loader: () => import('./source/loader.server.ts'),
  },
  '/(site)/lab/params/[id]': {
    page: () => import('./lab/params/page.tsx'),
    loader: () => import('./lab/params/loader.server.ts'),
  },
  '/(site)/lab/params/new': { page: () => import('./lab/params/new-page.tsx') },
  '/(site)/lab/files/[...path]': { page: () => import('./lab/files/page.tsx') },
  '/(site)/lab/filters/[[...filters]]': { page: () => import('./lab/filters/page.tsx') },

  '/(site)/lab/mills/[id]': {
    page: () => import('./lab/mills/page.tsx'),
    loader: () => import('./lab/mills/loader.server.ts'),
  },

  '/(site)/lab/stream': {
    page: () => import('./lab/stream/page.tsx'),
    loader: () => import('./lab/stream/loader.server.ts'),
  },
  '/(site)/lab/early': {
    shell: 'early',
    layout: () => import('./lab/early/layout.tsx'),
    loading: () => import('./lab/early/loading.tsx'),
    page: () => import('./lab/early/page.tsx'),
    loader: () => import('./lab/early/loader.server.ts'),
  },
  '/(site)/lab/slow/[ms]': {
    page: () => import('./lab/slow/page.tsx'),
    loader: () => import('./lab/slow/loader.server.ts'),
  },
  '/(site)/lab/cache/[key]': {
    page: () => import('./lab/cache/page.tsx'),
    loader: () => import('./lab/cache/loader.server.ts'),
  },
  '/(site)/lab/shared/[key]': {
    page: () => import('./lab/shared/page.tsx'),
    loader: () => import('./lab/shared/loader.server.ts'),
  },
  '/(site)/lab/kept/[key]': {
    cache: 'shared',
    page: () => import('./lab/kept/page.tsx'),
    loader: () => import('./lab/kept/loader.server.ts'),
  },
  '/(site)/lab/shell/[key]': {
    cache: 'shared',
    page: () => import('./lab/shell/page.tsx'),
    loader: () => import('./lab/shell/loader.server.ts'),
  },
  '/(site)/lab/html/[key]': {
    page: () => import('./lab/html/page.tsx'),
    loader: () => import('./lab/html/loader.server.ts'),
  },
  '/(site)/lab/inspector': { page: () => import('./lab/inspector/page.tsx') },

  '/(site)/lab/redirect/temporary': {
    page: () => import('./lab/redirect/gone-page.tsx'),
    loader: () => import('./lab/redirect/temporary.server.ts'),
  },
  '/(site)/lab/redirect/permanent': {
    page: () => import('./lab/redirect/gone-page.tsx'),
    loader: () => import('./lab/redirect/permanent.server.ts'),
  },
  '/(site)/lab/redirect/late': {
    page: () => import('./lab/redirect/late-page.tsx'),
    loader: () => import('./lab/redirect/late.server.ts'),
  },
  '/(site)/lab/landed': { page: () => import('./lab/redirect/landed-page.tsx') },

  '/(site)/lab/not-found': {
    page: () => import('./lab/refusals/refused-page.tsx'),
    loader: () => import('./lab/refusals/not-found.server.ts'),
  },
  '/(site)/lab/not-found/late': {
    page: () => import('./lab/refusals/late-page.tsx'),
    loader: () => import('./lab/refusals/late.server.ts'),
  },
  '/(site)/lab/forbidden': {
    page: () => import('./lab/refusals/refused-page.tsx'),
    loader: () => import('./lab/refusals/forbidden.server.ts'),
  },
  '/(site)/lab/unauthorized': {
    page: () => import('./lab/refusals/refused-page.tsx'),
    loader: () => import('./lab/refusals/unauthorized.server.ts'),
  },

  '/(site)/lab/crash/loader': {
    page: () => import('./lab/crash/loader-page.tsx'),
    loader: () => import('./lab/crash/loader.server.ts'),
  },
  '/(site)/lab/crash/render': { page: () => import('./lab/crash/render-page.tsx') },
  '/(site)/lab/crash/late': {
    page: () => import('./lab/crash/late-page.tsx'),
    loader: () => import('./lab/crash/late.server.ts'),
  },
  '/(site)/lab/crash/part': {
    page: () => import('./lab/crash/part-page.tsx'),
    loader: () => import('./lab/crash/late.server.ts'),
  },
  '/(site)/lab/crash/client': { page: () => import('./lab/crash/client-page.tsx') },
  '/(site)/lab/flaky/[key]': {
    page: () => import('./lab/flaky/page.tsx'),
    loader: () => import('./lab/flaky/loader.server.ts'),
  },

  '/(site)/lab/guestbook': {
    page: () => import('./lab/guestbook/page.tsx'),
    loader: () => import('./lab/guestbook/loader.server.ts'),
  },
  '/(site)/lab/upload': { page: () => import('./lab/upload/page.tsx') },
  '/(site)/lab/session': {
    page: () => import('./lab/session/page.tsx'),
    loader: () => import('./lab/session/loader.server.ts'),
  },
  '/(site)/lab/private': {
    page: () => import('./lab/private/page.tsx'),
    loader: () => import('./lab/private/loader.server.ts'),
  },

  '/(site)/lab/reports': {
    page: () => import('./lab/reports/page.tsx'),
    loader: () => import('./lab/reports/loader.server.ts'),
  },
  '/(site)/lab/reports/[id]': {
    page: () => import('./lab/reports/details-page.tsx'),
    loader: () => import('./lab/reports/details.server.ts'),
  },

  '/(bench)/lab/bench': { layout: () => import('./lab/bench/layout.tsx') },
  '/(bench)/lab/bench/hello': { page: () => import('./lab/bench/hello-page.tsx') },
  '/(bench)/lab/bench/spiral': { page: () => import('./lab/bench/spiral-page.tsx') },
  '/(bench)/lab/bench/table': {
    page: () => import('./lab/bench/table-page.tsx'),
    loader: () => import('./lab/bench/rows.server.ts'),
  },
  '/(bench)/lab/bench/links': {
    page: () => import('./lab/bench/links-page.tsx'),
    loader: () => import('./lab/bench/rows.server.ts'),
  },

  '/(bench)/lab/bench/kept/hello': { cache: 'shared', page: () => import('./lab/bench/hello-page.tsx') },
  '/(bench)/lab/bench/kept/spiral': { cache: 'shared', page: () => import('./lab/bench/spiral-page.tsx') },
  '/(bench)/lab/bench/kept/table': {
    cache: 'shared',
    page: () => import('./lab/bench/table-page.tsx'),
    loader: () => import('./lab/bench/kept-rows.server.ts'),
  },
  '/(bench)/lab/bench/kept/links': {
    cache: 'shared',
    page: () => import('./lab/bench/links-page.tsx'),
    loader: () => import('./lab/bench/kept-rows.server.ts'),
  },
  '/(bench)/lab/bench/shell/hello': {
    cache: 'shared',
    page: () => import('./lab/bench/shell-hello-page.tsx'),
    loader: () => import('./lab/bench/slot.server.ts'),
  },
  '/(bench)/lab/bench/shell/spiral': {
    cache: 'shared',
    page: () => import('./lab/bench/shell-spiral-page.tsx'),
    loader: () => import('./lab/bench/slot.server.ts'),
  },
  '/(bench)/lab/bench/shell/table': {
    cache: 'shared',
    page: () => import('./lab/bench/shell-table-page.tsx'),
    loader: () => import('./lab/bench/slot-rows.server.ts'),
  },
  '/(bench)/lab/bench/shell/links': {
    cache: 'shared',
    page: () => import('./lab/bench/shell-links-page.tsx'),
    loader: () => import('./lab/bench/slot-rows.server.ts'),
  },

  '/docs/search.json': { handler: () => import('./docs/search-data.server.ts') },
  '/docs/markdown/[...chapter]': { handler: () => import('./docs/markdown-file.server.ts') },
  '/llms.txt': { handler: () => import('./docs/llms.server.ts') },
  '/llms-full.txt': { handler: () => import('./docs/llms-full.server.ts') },

  '/lab/events': { handler: () => import('./lab/events/events.server.ts') },
  '/lab/guestbook/events': { handler: () => import('./lab/guestbook/events.server.ts') },
  '/lab/reports/envelopes/[id]': { handler: () => import('./lab/reports/envelope.server.ts') },
  '/lab/feed.json': { handler: () => import('./lab/events/feed.server.ts') },
  '/robots.txt': { handler: () => import('./site/robots.server.ts') },
  '/sitemap.xml': { handler: () => import('./site/sitemap.server.ts') },
})
