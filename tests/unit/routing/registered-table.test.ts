import { beforeAll, describe, expect, it } from 'vitest'
import { compileProgram } from '../../support/compile-program.ts'

const COMPILER_TIMEOUT_MS = 120_000 // for hangs only: it is one run, which takes some seconds
const MOST_LINES = 10

const ROUTES = `import { defineRoutes } from 'millrace'

const fallbacks = { error: () => import('./error.tsx') }

export const routes = defineRoutes({
  '/': fallbacks,
  '/(site)': { layout: () => import('./layout.tsx'), page: () => import('./page.tsx') },
  '/(site)/docs': { ...fallbacks, layout: () => import('./layout.tsx') },
  '/(site)/docs/[[...slug]]': { page: () => import('./page.tsx') },
  '/(site)/mills/[id]': { page: () => import('./page.tsx'), loader: () => import('./mill.server.ts') },
  '/(site)/mills/[id]/wheels/[wheel]': { page: () => import('./page.tsx') },
  '/(site)/words/[id]': {
    cache: 'shared',
    variants: { language: (request) => (request.cookies['language'] === 'de' ? 'de' : 'en'), site: ({ host }) => host },
    page: () => import('./page.tsx'),
    loader: () => import('./words.server.ts'),
  },
  '/(site)/mills/new': { page: () => import('./memo.tsx') },
  '/files/[...path]': { handler: () => import('./mill.server.ts') },
})

declare module 'millrace' { interface Register { routes: typeof routes; env: typeof import('./env.server.ts').env } }
`

const ENV = `import { z } from 'zod'
import { defineEnv } from 'millrace/server'
export const env = defineEnv(z.object({ SHOP: z.string(), MOST: z.coerce.number(), SMTP_URL: z.url() }), { public: ['SHOP', 'MOST'] })
`

/** Modules whose types depend on the table, which names them: none of these may make a circle. */
const SOUND: Readonly<Record<string, string>> = {
  'routes.ts': ROUTES,
  'env.server.ts': ENV,
  'configured.tsx': `import { publicEnv } from 'millrace'
export const shown = publicEnv().SHOP.padEnd(publicEnv().MOST)
`,
  'error.tsx': `import { Link } from 'millrace'
export default function Failed() { return <Link href="/">Home</Link> }
`,
  'layout.tsx': `import { Link, type LayoutProps } from 'millrace'
export default function Layout({ children }: LayoutProps<'/docs'>) { return <div><Link href="/docs">Docs</Link>{children}</div> }
`,
  'memo.tsx': `import { memo } from 'react'
import { href, Link } from 'millrace'
export const metadata = { canonical: href('/mills/new') }
export default memo(() => <Link href={href('/mills/new')}>New</Link>)
`,
  'mill.server.ts': `import { href, redirect, type LoaderArgs } from 'millrace/server'
export function loader({ params }: LoaderArgs<'/mills/[id]'>) {
  if (params.id === 'old') redirect(href('/docs/[[...slug]]', { slug: ['a'] }))
  return { mill: params.id }
}
export function GET() { return Response.json({}) }
`,
  'words.server.ts': `import type { LoaderArgs, VisitorArgs } from 'millrace/server'
export function loader({ variants }: LoaderArgs<'/words/[id]'>) {
  return { mill: String(variants['language']) + (variants['site'] ?? '') }
}
export function visitor({ variants, data }: VisitorArgs<'/words/[id]', typeof loader>) {
  return String(variants['language']) + data.mill
}
`,
  'page.tsx': `import { external, Form, href, Link, redirect, useLoaderData, useLocation, useNavigate, useParams, useSearch, type PageProps } from 'millrace'
export const metadata = () => ({ title: 'Mill', canonical: href('/mills/new') })
export default function Page({ params }: PageProps<'/docs/[[...slug]]'>) {
  const { navigate } = useNavigate()
  const { id } = useParams('/mills/[id]')
  const [search] = useSearch('/mills/[id]')
  const { pathname, search: query, hash } = useLocation()
  if (pathname === '/docs') redirect(pathname)
  const { mill } = useLoaderData<typeof import('./mill.server.ts')>('/mills/[id]')
  const leave = () => {
    navigate('/docs/a/b?x#y')
    navigate(\`?page=\${id}\`)
    navigate(\`/docs?page=\${id}\`)
    navigate(new URL('https://example.com'))
    navigate(external(id))
  }
  if (id === 'a') redirect('/mills/7')
  if (id === 'b') redirect(external(id), 303)
  return (
    <main onClick={leave}>
      {params.slug?.length}{mill}{String(search)}
      <Link href="/">a</Link><Link href="/docs">a</Link><Link href="/mills/7?x#y">a</Link><Link href="/mills/7/wheels/3">a</Link>
      <Link href="/files/a/b">a</Link><Link href="#x">a</Link><Link href="https://example.com">a</Link><Link href="mailto:x">a</Link>
      <Link href={id === 'a' ? '/docs' : '/mills/new'} className="x" onClick={(event) => event.preventDefault()}>a</Link>
      <Link href={href('/mills/[id]', { id }, { tab: 1 })}>a</Link><Link href={external(id)}>a</Link>
      <Link href={pathname} current="exact">a</Link><Link href={query}>a</Link><Link href={hash} scroll={false}>a</Link>
      <Form method="get" /><Form method="get" action="/docs" /><Form method="get" action={href('/mills/[id]', { id })} replace />
    </main>
  )
}
`,
  'actions.tsx': `import { useActionState } from 'react'
import type { Action } from 'millrace'
declare const sign: Action<{ name: string }, readonly [], { saved: number }>
declare const remove: Action<unknown, readonly [number], void>
declare const move: Action<{ to: string }, readonly [number, string], void>
export function Button({ action }: { action: Action }) { return <form action={action}><button formAction={action} /></form> }
export function Row({ action }: { action: Action<never, [id: number]> }) { return <form action={action.bind(null, 3)} /> }
export function Saved({ action }: { action: Action<never, [], { saved: number }> }) {
  const [state, run] = useActionState(action, null)
  return <form action={run}>{state !== null && 'saved' in state ? state.saved.toFixed() : ''}</form>
}
export const uses = [
  <Button action={sign} />, <Button action={remove.bind(null, 1)} />, <Button action={move.bind(null, 1, 'x')} />,
  <Button action={move.bind(null, 1).bind(null, 'x')} />, <Row action={remove} />, <Saved action={sign} />, <form action={sign} />,
]
`,
}

/** One slip a file: what is written, and what the compiler has to say of it. */
const SLIPS: readonly (readonly [line: string, says: string])[] = [
  [
    `export const is = (args: import('millrace/server').LoaderArgs<'/words/[id]'>) => args.variants.language === 'fr'`,
    'no overlap',
  ],
  [
    `export const is = (args: import('millrace/server').VisitorArgs<'/words/[id]'>) => args.variants.language === 'fr'`,
    'no overlap',
  ],
  [
    `export const key = import('millrace').then((own) => own.publicEnv().SMTP_URL)`,
    `Property 'SMTP_URL' does not exist`,
  ],
  [`export type Props = PageProps<'/mils/[id]'>`, `'"/mils/[id]"'`],
  [`export type Props = PageProps<'/docs'>`, `'"/docs"'`],
  [`export const params = () => useParams('/mils/[id]')`, `'"/mils/[id]"'`],
  [`export const search = () => useSearch('/mils/[id]')`, `'"/mils/[id]"'`],
  [`export const data = () => useLoaderData<object>('/mils/[id]')`, `'"/mils/[id]"'`],
  [`href('/mils/[id]', { id: '7' })`, `'"/mils/[id]"'`],
  [`href('/mills/[id]')`, 'Expected 2-4 arguments, but got 1'],
  [`href('/mills/[id]', { name: '7' })`, `'name' does not exist in type`],
  [`redirect('?page=2')`, 'a redirect needs a path'],
  [`permanentRedirect('#wheels')`, 'a redirect needs a path'],
  [`redirect('/mils/7')`, 'NoRouteMatches<"/mils/7">'],
  [`permanentRedirect(text)`, 'use href(pattern, params), or external(text)'],
  [`useNavigate().navigate('/mills')`, 'NoRouteMatches<"/mills">'],
  [`useNavigate().navigate(text)`, 'use href(pattern, params), or external(text)'],
  ['export const link = <Link href="/docz">a</Link>', `Did you mean '"/docs"'?`],
  ['export const link = <Link href="/mills/7/8">a</Link>', 'NoRouteMatches<"/mills/7/8">'],
  ['export const link = <Link href="/mills/">a</Link>', 'NoRouteMatches<"/mills/">'],
  ['export const link = <Link href="//example.com">a</Link>', 'NoRouteMatches<"//example.com">'],
  ['export const link = <Link href="/files">a</Link>', 'NoRouteMatches<"/files">'],
  ['export const form = <Form method="get" action="/docz" />', `Did you mean '"/docs"'?`],
  ['export const form = <Form method="get" action={text} />', 'use href(pattern, params), or external(text)'],
  ['export const form = <Form method="post" />', `Type '"post"' is not assignable to type '"get"'`],
  ['export const link = <Link href="/docs" current="above">a</Link>', `Type '"above"' is not assignable`],
  [`if (useLocation().search === 'page=2') throw text`, 'no overlap'],
  ['export const link = <Link href="docs">a</Link>', 'use href(pattern, params), or external(text)'],
  ['export const link = <Link href="javascript:x">a</Link>', 'use href(pattern, params), or external(text)'],
  ['export const link = <Link href={text}>a</Link>', 'use href(pattern, params), or external(text)'],
  ['export const link = <Link href={`/mills/${text}`}>a</Link>', 'use href(pattern, params), or external(text)'],
  [`export const link = <Link href={text === '' ? '/docs' : '/nope'}>a</Link>`, 'NoRouteMatches<"/nope">'],
  ['useActionState(remove, null)', `is not assignable to type 'number'`],
  [`useActionState(sign, { saved: 'x' })`, `Type 'string' is not assignable to type 'number'`],
  [`remove.bind(null, 'a')`, `Argument of type 'string' is not assignable to parameter of type 'number'`],
  ['remove.bind(null, 1, 2)', 'Expected 2 arguments, but got 3'],
  [`void sign({ nam: 'x' })`, `'nam' does not exist`],
  ['export const form = <form action={remove} />', 'Expected 2 or more, but got 1'],
  ['export const button = <Button action={remove} />', `is not assignable to type 'Action'`],
  ['export const row = <Row action={sign} />', `Type 'number' is not assignable to type`],
]

const SLIP_HEAD = `import { useActionState } from 'react'
import { Form, href, Link, permanentRedirect, redirect, useLoaderData, useLocation, useNavigate, useParams, useSearch, type Action, type PageProps } from 'millrace'
import { Button, Row } from './actions.tsx'
export type Used = Action | PageProps
export const used = [useActionState, useLocation, Form, href, Link, permanentRedirect, redirect, useLoaderData, useNavigate, useParams, useSearch, Button, Row]
declare const text: string
export type Text = typeof text
declare const sign: Action<{ name: string }, readonly [], { saved: number }>
declare const remove: Action<unknown, readonly [number], void>
export type Actions = [typeof sign, typeof remove]
`

/** A table with languages, as the handbook has it: without the list, every path would be one of a language. */
const LISTED: Readonly<Record<string, string>> = {
  'routes.ts': `import { defineRoutes } from 'millrace'
import { LOCALES } from './locales.ts'
export const routes = defineRoutes({
  '/': { page: () => import('./page.tsx') },
  '/(site)/[locale]': { params: { locale: LOCALES }, layout: () => import('./layout.tsx'), page: () => import('./page.tsx') },
  '/(site)/[locale]/mills/[id]': { page: () => import('./page.tsx') },
  '/(site)/[locale]/mills/[id]/[part]': { params: { part: ['wheels', 'sails'] }, page: () => import('./page.tsx') },
  '/(site)/[locale]/[...rest]': { linked: false, page: () => import('./page.tsx') },
  '/help/[locale]': { page: () => import('./page.tsx') },
})
declare module 'millrace' { interface Register { routes: typeof routes } }
`,
  'locales.ts': `export const LOCALES = ['en', 'de'] as const
`,
  'layout.tsx': `import { href, Link, type LayoutProps } from 'millrace'
import { LOCALES } from './locales.ts'
export default function Layout({ params, children }: LayoutProps<'/[locale]'>) {
  const locale: 'en' | 'de' = params.locale
  return <div lang={locale}>{LOCALES.map((one) => <Link key={one} href={href('/[locale]', { locale: one })}>{one}</Link>)}{children}</div>
}
`,
  'page.tsx': `import { href, Link, useParams } from 'millrace'
export default function Page() {
  const { locale, part } = useParams('/[locale]/mills/[id]/[part]')
  const free: string = useParams('/help/[locale]').locale
  const sails: 'wheels' | 'sails' = part
  return <main title={free + sails}>
    <Link href="/en">a</Link><Link href="/de/mills/7?x#y">a</Link><Link href="/en/mills/7/sails">a</Link><Link href="/help/fr">a</Link>
    <Link href={\`/\${locale}/mills/7\`}>a</Link><Link href={href('/[locale]/mills/[id]', { locale, id: '7' }, {}, { defaults: { page: 1 } })}>a</Link>
  </main>
}
`,
  'app.ts': `import { defineApp } from 'millrace/server'
import type { DocumentProps } from 'millrace'
import { routes } from './routes.ts'
export default defineApp({ routes, document: ({ children }: DocumentProps) => children })
`,
}

const LISTED_SLIPS: readonly (readonly [line: string, says: string])[] = [
  ['export const link = <Link href="/fr">a</Link>', 'NoRouteMatches<"/fr">'],
  ['export const link = <Link href="/fr/mills/7">a</Link>', 'NoRouteMatches<"/fr/mills/7">'],
  ['export const link = <Link href="/en/milz/7">a</Link>', 'NoRouteMatches<"/en/milz/7">'],
  ['export const link = <Link href="/en/mills/7/doors">a</Link>', 'NoRouteMatches<"/en/mills/7/doors">'],
  ['export const link = <Link href="/nowhere">a</Link>', 'NoRouteMatches<"/nowhere">'],
  [`redirect('/en/a/b/c/d')`, 'NoRouteMatches<"/en/a/b/c/d">'],
  [`href('/[locale]', { locale: 'fr' })`, `Type '"fr"' is not assignable to type '"`],
  [`href('/[locale]/[...rest]', { locale: 'en', rest: ['a'] })`, `'"/[locale]/[...rest]"'`],
  [`href('/[locale]', { locale: text })`, `Type 'string' is not assignable to type '"`],
  [`if (useParams('/[locale]').locale === 'fr') throw text`, 'no overlap'],
]

const LISTED_HEAD = `import { href, Link, redirect, useParams } from 'millrace'
export const used = [href, Link, redirect, useParams]
declare const text: string
export type Text = typeof text
`

describe('with lists of params and entries without links, an application', { timeout: COMPILER_TIMEOUT_MS }, () => {
  const found: { messages: ReadonlyMap<string, readonly string[]> } = { messages: new Map() }

  beforeAll(async () => {
    const slips = LISTED_SLIPS.map(([line], index) => [`slip-${index}.tsx`, `${LISTED_HEAD}${line}\n`] as const)
    found.messages = await compileProgram({ ...LISTED, ...Object.fromEntries(slips) })
  }, COMPILER_TIMEOUT_MS)

  it('compiles where its links name listed values', () => {
    expect([...found.messages].filter(([file]) => !file.startsWith('slip-'))).toEqual([])
  })

  it.for(LISTED_SLIPS.map(([line, says], index) => [line, says, index] as const))(
    'is told of %s',
    ([, says, index]) => {
      const lines = found.messages.get(`slip-${index}.tsx`) ?? []
      expect(lines.join('\n')).toContain(says)
      expect(lines.length).toBeLessThanOrEqual(MOST_LINES)
    },
  )
})

describe('with its table registered, an application', { timeout: COMPILER_TIMEOUT_MS }, () => {
  const found: { messages: ReadonlyMap<string, readonly string[]> } = { messages: new Map() }

  beforeAll(async () => {
    const slips = SLIPS.map(([line], index) => [`slip-${index}.tsx`, `${SLIP_HEAD}${line}\n`] as const)
    found.messages = await compileProgram({ ...SOUND, ...Object.fromEntries(slips) })
  }, COMPILER_TIMEOUT_MS)

  it('compiles where its patterns and links are right, and its types make no circle', () => {
    expect([...found.messages].filter(([file]) => !file.startsWith('slip-'))).toEqual([])
  })

  it.for(SLIPS.map(([line, says], index) => [line, says, index] as const))('is told of %s', ([, says, index]) => {
    const lines = found.messages.get(`slip-${index}.tsx`) ?? []
    expect(lines.join('\n')).toContain(says)
    expect(lines.length).toBeLessThanOrEqual(MOST_LINES)
  })

  it('does not compile when a route is renamed and its links are not', async () => {
    const renamed = ROUTES.replace('/mills/new', '/mills/add')
    const messages = await compileProgram({ ...SOUND, 'routes.ts': renamed })
    expect(messages.get('memo.tsx')?.join('\n')).toContain('"/mills/new"')
  })

  it('compiles without it, whatever its links say', async () => {
    const unregistered = ROUTES.replace(/^declare module.*$/m, '')
    const messages = await compileProgram({
      ...SOUND,
      'routes.ts': unregistered,
      'configured.tsx': `import { publicEnv } from 'millrace'
export const shown = String(publicEnv()['SHOP'])
`,
      'slip.tsx': `${SLIP_HEAD}export const link = <Link href={text}>{href('/none/[id]', { id: text })}</Link>\n`,
    })
    expect([...messages]).toEqual([])
  })
})
