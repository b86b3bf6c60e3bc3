/** Headers that a loader sets, on all kinds of documents of its page: as on an ordinary one, whoever keeps it. */
import { setTimeout as wait } from 'node:timers/promises'
import { Suspense, use } from 'react'
import { expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { nameInCookie, type SlottedData } from '../support/kept-shells.tsx'
import { statusOf, visit } from '../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

/** By name: the value that a loader sets. Documents have it as it is. */
const AS_GIVEN = {
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'unsafe-none',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-site',
  'Permissions-Policy': 'camera=(self)',
  'Origin-Agent-Cluster': '?0',
  'Document-Policy': 'js-profiling',
  'Integrity-Policy': 'blocked-destinations=(script)',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-DNS-Prefetch-Control': 'off',
  'Content-Security-Policy-Report-Only': "default-src 'none'",
  'X-Robots-Tag': 'noindex',
  'Content-Language': 'de',
  'Content-Disposition': 'inline',
  'Access-Control-Allow-Origin': '*',
  'Timing-Allow-Origin': '*',
  'Clear-Site-Data': '"prefetchCache"',
  'Accept-CH': 'DPR',
  'No-Vary-Search': 'params',
  'Speculation-Rules': '"/rules.json"',
  'X-Own': '1',
}

/** Documents have another value in place of this one. */
const FITTED = [
  ['Referrer-Policy', 'no-referrer', 'same-origin'],
  ['Referrer-Policy', 'origin, no-referrer', 'same-origin'],
  ['Referrer-Policy', 'no-referrer, origin', 'no-referrer, origin'],
] as const

/** Of answers for one visitor, nothing is left of these. */
const FOR_CACHES = ['CDN-Cache-Control', 'Surrogate-Control', 'Cloudflare-CDN-Cache-Control']

const plain = page(() => <p>plain</p>)

function Name({ visitor }: Pick<SlottedData, 'visitor'>) {
  return <b>{use(visitor).name}</b>
}

const slots = page(({ data }: { data: SlottedData }) => (
  <Suspense>
    <Name visitor={data.visitor} />
  </Suspense>
))

/** Pages of all kinds, whose loader sets these headers. */
function pagesWith(headers: readonly (readonly [string, string])[]) {
  const set = ({ context }: LoaderArgs) => {
    for (const [name, value] of headers) context.headers.set(name, value)
    return {}
  }
  const early = async (args: LoaderArgs) => {
    const data = set(args)
    await wait(20)
    return data
  }
  const loader = moduleOf({ loader: set })
  const withSlot = moduleOf({ loader: set, visitor: nameInCookie })
  const site = tinyApp({
    routes: {
      '/plain': { page: plain, loader },
      '/streamed': { page: slots, loader: withSlot },
      '/dated': {
        page: plain,
        loader: moduleOf({ loader: (args: LoaderArgs) => ({ ...set(args), at: new Date(0) }) }),
      },
      '/kept': { cache: 'shared', page: plain, loader },
      '/shell': { cache: 'shared', page: slots, loader: withSlot },
      '/early': {
        shell: 'early',
        loading: moduleOf({ default: () => 'wait' }),
        page: plain,
        loader: moduleOf({ loader: early }),
      },
    } as never,
  })
  const ann = { Cookie: 'visitor=ann' }
  return {
    whole: async () => [
      await visit(site, '/plain'),
      await visit(site, '/kept'),
      await visit(site, '/kept'),
      await visit(site, '/shell'),
    ],
    ofOne: async () => [
      await visit(site, '/shell', ann),
      await visit(site, '/streamed', ann),
      await visit(site, '/dated'),
      await visit(site, '/early'),
    ],
  }
}

test('a header that a loader sets is the same on ordinary, kept and streamed pages, shells and early shells', async () => {
  const { whole, ofOne } = pagesWith(Object.entries(AS_GIVEN))
  const expected = Object.fromEntries(Object.entries(AS_GIVEN).map(([name, value]) => [name.toLowerCase(), value]))
  const answers = [...(await whole()), ...(await ofOne())]
  expect(answers.map(statusOf).map((status) => /hit|miss/.exec(status)?.[0])).toEqual([
    undefined,
    'miss',
    'hit',
    'miss',
    'hit',
    undefined,
    undefined,
    undefined,
  ])
  for (const answer of answers) expect(answer.headers).toMatchObject(expected)
})

test.for(FITTED)('%s: %s is %s on documents', async ([name, value, fitted]) => {
  const { whole, ofOne } = pagesWith([[name, value]])
  for (const { headers } of [...(await whole()), ...(await ofOne())]) {
    expect(headers[name.toLowerCase()]).toBe(fitted)
  }
})

test('a policy restricts the page’s own, and the age is that of the document', async () => {
  const { whole, ofOne } = pagesWith([
    ['Content-Security-Policy', "connect-src 'none'"],
    ['Age', '500'],
  ])
  for (const { headers } of [...(await whole()), ...(await ofOne())]) {
    expect(headers['content-security-policy']).toMatch(/^default-src 'self'; .*connect-src 'none'$/)
    expect(headers['age'] ?? '0').toBe('0')
  }
})

test('what lets caches in front keep a page is not on answers for one visitor', async () => {
  const caching = [...FOR_CACHES, 'Cache-Control'].map((name) => [name, 'public, max-age=60'] as const)
  const { whole, ofOne } = pagesWith(caching)
  for (const name of ['Cache-Control', ...FOR_CACHES].map((header) => header.toLowerCase())) {
    for (const { headers } of await whole()) expect(headers[name]).toBe('public, max-age=60')
    for (const { headers } of await ofOne()) expect(headers[name] ?? 'private, no-cache').toBe('private, no-cache')
  }
})
