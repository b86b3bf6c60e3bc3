/** One page of the lab, as its overview and its feed show it. */
export interface LabEntry {
  /** A path to begin with. */
  readonly href: string
  readonly title: string
  /** What to look for, in one sentence. */
  readonly look: string
  /** The status of the first answer, if it is not 200. */
  readonly status?: number
  /** The pattern of its route, if it is not the path of `href`; `null` if no route of the lab answers. */
  readonly pattern?: string | null
}

/** The pattern of the route behind a card; `undefined` if no route of the lab answers. */
export function patternOf({ href, pattern }: LabEntry): string | undefined {
  return pattern === null ? undefined : (pattern ?? href.replace(/\?.*$/, ''))
}

/** Pages of the lab that belong together. */
export interface LabGroup {
  /** The fragment of the group on `/lab`. */
  readonly id: string
  readonly title: string
  /** `none` if a prefetch would fail or occupy the server. */
  readonly prefetch: 'viewport' | 'none'
  readonly entries: readonly LabEntry[]
}

/** Every page of the lab. */
export const LAB_GROUPS: readonly LabGroup[] = [
  {
    id: 'matching',
    title: 'Matching a URL',
    prefetch: 'viewport',
    entries: [
      {
        href: '/lab/params/42',
        pattern: '/lab/params/[id]',
        title: 'One dynamic segment',
        look: 'The param is decoded once, and the loader sees the same as the component.',
      },
      {
        href: '/lab/params/new',
        title: 'A static segment wins',
        look: 'The path matches a dynamic pattern too; the static one wins.',
      },
      {
        href: '/lab/files/src/app/routes.ts',
        pattern: '/lab/files/[...path]',
        title: 'A catch-all',
        look: 'Any number of segments arrive as a list.',
      },
      {
        href: '/lab/filters',
        pattern: '/lab/filters/[[...filters]]',
        title: 'An optional catch-all',
        look: 'The pattern also matches without segments; then the param is absent.',
      },
    ],
  },
  {
    id: 'rules',
    title: 'Redirects and rewrites',
    prefetch: 'viewport',
    entries: [
      {
        href: '/lab/redirect/temporary',
        status: 307,
        title: 'A loader redirects temporarily',
        look: 'You land on a different page; the answer was a real 307.',
      },
      {
        href: '/lab/redirect/permanent',
        status: 308,
        title: 'A loader redirects permanently',
        look: 'You land on a different page; the answer was a real 308.',
      },
      {
        href: '/lab/redirect/late',
        title: 'A late redirect',
        look: 'The shell appears first; then a component in it redirects.',
      },
      { href: '/lab/landed', title: 'Landed', look: 'Where the redirects end.' },
      {
        href: '/lab/old/42',
        pattern: null,
        status: 308,
        title: 'A redirect rule',
        look: 'A rule answers with 308 before a page is chosen.',
      },
      {
        href: '/lab/alias/42',
        pattern: null,
        title: 'A rewrite rule',
        look: 'A different page answers, and the URL stays.',
      },
    ],
  },
  {
    id: 'data',
    title: 'Loading data',
    prefetch: 'viewport',
    entries: [
      {
        href: '/lab/mills/upper',
        pattern: '/lab/mills/[id]',
        title: 'A whole page',
        look: 'The example of the home page: a route, a loader with a deferred value, a page and a form.',
      },
      {
        href: '/lab/stream?delay=1000',
        title: 'Streaming',
        look: 'The shell appears at once; the rest follows in the same response.',
      },
      {
        href: '/lab/early?delay=1000',
        title: 'An early shell',
        look: 'The layouts appear at once, while the loader of the page still runs.',
      },
      {
        href: '/lab/slow/1000',
        pattern: '/lab/slow/[ms]',
        title: 'A slow loader',
        look: 'Nothing is deferred, so the whole answer waits.',
      },
      {
        href: '/lab/cache/1',
        pattern: '/lab/cache/[key]',
        title: 'Reused data',
        look: 'The time shows whether the loader has run again. Without JavaScript, it always runs.',
      },
      {
        href: '/lab/shared/1',
        pattern: '/lab/shared/[key]',
        title: 'Shared data',
        look: 'The server caches a value for all visitors, until an action drops it.',
      },
      {
        href: '/lab/kept/1',
        pattern: '/lab/kept/[key]',
        title: 'A cached page',
        look: 'The server caches the whole document for all visitors, until an action drops it.',
      },
      {
        href: '/lab/shell/1',
        pattern: '/lab/shell/[key]',
        title: 'A cached page with a slot',
        look: 'The server caches the page for all visitors. The name in your cookie “visitor” follows in the same response.',
      },
      {
        href: '/lab/html/1',
        pattern: '/lab/html/[key]',
        title: 'HTML of the server',
        look: 'Text that is HTML already is in the document once. Links in it work as all others do.',
      },
      {
        href: '/lab/inspector',
        title: 'The inspector',
        look: "The development panel's tables in production: screen, cache, requests, actions, prefetches. Needs JavaScript.",
      },
    ],
  },
  {
    id: 'actions',
    title: 'Actions and sessions',
    prefetch: 'viewport',
    entries: [
      {
        href: '/lab/guestbook',
        title: 'Guestbook',
        look: 'A form that works without scripts. With scripts, your entry appears before the server has answered.',
      },
      {
        href: '/lab/upload',
        title: 'Upload',
        look: 'A file is read while it arrives; only its SHA-256 is kept.',
      },
      {
        href: '/lab/session',
        title: 'Session',
        look: 'Sign in and out with a button; an encrypted cookie has your name.',
      },
    ],
  },
  {
    id: 'refusals',
    title: 'Refusals',
    prefetch: 'none',
    entries: [
      { href: '/lab/not-found', status: 404, title: 'Not found', look: 'A real 404 with the page in its body.' },
      { href: '/lab/forbidden', status: 403, title: 'Forbidden', look: 'A real 403 with the page in its body.' },
      { href: '/lab/unauthorized', status: 401, title: 'Unauthorized', look: 'A real 401 with the page in its body.' },
      {
        href: '/lab/private',
        status: 401,
        title: 'A private page',
        look: 'The loader reads the session: 401 without one, 403 for a guest, and the page for an admin.',
      },
      {
        href: '/lab/not-found/late',
        title: 'A late not found',
        look: 'The status 200 was already sent; the not-found page still replaces the page. Needs JavaScript.',
      },
    ],
  },
  {
    id: 'failures',
    title: 'Failures',
    prefetch: 'none',
    entries: [
      {
        href: '/lab/crash/loader',
        status: 500,
        title: 'A failing loader',
        look: 'A real 500 with a digest; the cause is only in the log.',
      },
      {
        href: '/lab/crash/render',
        status: 500,
        title: 'A failing component',
        look: 'The same, for a failure during the render.',
      },
      {
        href: '/lab/crash/late',
        title: 'A late failure',
        look: 'The shell was already sent; the error page replaces it, with the digest. Needs JavaScript.',
      },
      {
        href: '/lab/crash/part',
        title: 'A failing part',
        look: 'The same, but only the failed part is replaced. Needs JavaScript.',
      },
      {
        href: '/lab/crash/client',
        title: 'Failures in the browser',
        look: 'Three buttons that fail in three ways. Needs JavaScript.',
      },
      {
        href: '/lab/flaky/demo?fail=2',
        status: 503,
        pattern: '/lab/flaky/[key]',
        title: 'A loader that fails at first',
        look: 'The first two requests get a real 503. A click tries again by itself; a document does not.',
      },
      {
        href: '/lab/reports',
        title: 'Error reports',
        look: 'What has failed, on both sides, as the error service would get it.',
      },
    ],
  },
  {
    id: 'workloads',
    title: 'Workloads for measuring',
    prefetch: 'none',
    entries: [
      { href: '/lab/bench/hello', title: 'Hello', look: 'The smallest page there is, without the site around it.' },
      { href: '/lab/bench/spiral', title: 'Spiral', look: 'About 2,400 positioned elements.' },
      { href: '/lab/bench/table?n=1000', title: 'Table', look: 'A thousand rows from an asynchronous loader.' },
      { href: '/lab/bench/links?n=1000', title: 'Links', look: 'The table again, with a link in every row.' },
      { href: '/lab/bench/kept/hello', title: 'Hello, kept', look: 'Made once, and sent to everybody.' },
      { href: '/lab/bench/kept/spiral', title: 'Spiral, kept', look: 'The same elements, made once.' },
      { href: '/lab/bench/kept/table?n=1000', title: 'Table, kept', look: 'A thousand rows that stay the same.' },
      { href: '/lab/bench/kept/links?n=1000', title: 'Links, kept', look: 'Those rows, with a link in each.' },
      { href: '/lab/bench/shell/hello', title: 'Hello with a slot', look: 'Made once, and a name for each visitor.' },
      { href: '/lab/bench/shell/spiral', title: 'Spiral with a slot', look: 'The same elements, and a name.' },
      { href: '/lab/bench/shell/table?n=1000', title: 'Table with a slot', look: 'The rows that stay, and a name.' },
      { href: '/lab/bench/shell/links?n=1000', title: 'Links with a slot', look: 'Those rows with links, and a name.' },
    ],
  },
  {
    id: 'resources',
    title: 'Resource routes',
    prefetch: 'none',
    entries: [
      {
        href: '/lab/feed.json',
        title: 'JSON feed',
        look: 'A route without a page: a function that answers with a Response.',
      },
      { href: '/lab/events', title: 'Event stream', look: 'A response without an end, one event a second.' },
      {
        href: '/lab/guestbook/events',
        title: 'Changes of the guestbook',
        look: 'An event stream again: one event whenever somebody signs.',
      },
      { href: '/robots.txt', pattern: null, title: 'robots.txt', look: 'Plain text for crawlers.' },
      {
        href: '/sitemap.xml',
        pattern: null,
        title: 'sitemap.xml',
        look: 'The pages worth indexing, made when asked for.',
      },
    ],
  },
]
