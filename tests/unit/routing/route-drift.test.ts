import { beforeAll, describe, expect, it } from 'vitest'
import { compileProgram } from '../../support/compile-program.ts'

const COMPILER_TIMEOUT_MS = 120_000 // for hangs only: it is one run, which takes some seconds
const MOST_LINES = 10

/** An application whose modules fit its table, each kind of them at least once. */
const SOUND: Readonly<Record<string, string>> = {
  'routes.ts': `import { defineRoutes } from 'millrace'
export const routes = defineRoutes({
  '/': {
    layout: () => import('./shell.tsx'),
    error: () => import('./error.tsx'),
    notFound: () => import('./not-found.tsx'),
    forbidden: () => import('./not-found.tsx'),
    loading: () => import('./loading.tsx'),
  },
  '/(site)': { page: () => import('./plain.tsx') },
  '/(site)/mills/[id]': {
    guard: () => import('./guard.server.ts'),
    layout: () => import('./frame.tsx'),
    layoutLoader: () => import('./frame.server.ts'),
    page: () => import('./mill.tsx'),
    loader: () => import('./mill.server.ts'),
  },
  '/old/[id]': { page: () => import('./mill.tsx'), loader: () => import('./mill.server.ts') },
  '/yard/[part]/[id]': { page: () => import('./mill.tsx'), loader: () => import('./again.server.ts') },
  '/parts/[id]': { page: () => import('./two-places.tsx') },
  '/parts': { page: () => import('./two-places.tsx') },
  '/files/[...path]': { page: () => import('./files.tsx') },
  '/pages/[[...slug]]': { page: () => import('./any.tsx') },
  '/classes/[id]': { page: () => import('./class.tsx') },
  '/memo/[id]': { page: () => import('./memo.tsx'), loader: () => import('./mill.server.ts') },
  '/unheard/[id]': { page: () => import('./unheard.tsx'), loader: () => import('./mill.server.ts') },
  '/hook/[id]': { page: () => import('./hook.tsx'), loader: () => import('./mill.server.ts') },
  '/gone': { page: () => import('./plain.tsx'), loader: () => import('./gone.server.ts') },
  '/filters': { page: () => import('./filters.tsx'), loader: () => import('./filters.server.ts') },
  '/listed/[id]': { page: () => import('./plain.tsx'), loader: () => import('./listed.server.ts') },
  '/pages/listed/[[...slug]]': { page: () => import('./listed.tsx'), loader: () => import('./any-listed.server.ts') },
  '/numbers/[id]': { page: () => import('./plain.tsx'), loader: () => import('./numbers.server.ts') },
  '/api/mills/[id]': { handler: () => import('./api.server.ts') },
  '/api/lists': { handler: () => import('./lists.server.ts') },
})
declare module 'millrace' { interface Register { routes: typeof routes } }
`,
  'document.tsx': `import type { DocumentProps } from 'millrace'
export function Document({ head, children }: DocumentProps) { return <html><head>{head}</head><body>{children}</body></html> }
`,
  'app.ts': `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
export default defineApp({ routes, document: Document })
`,
  'client.tsx': `import { hydrate } from 'millrace'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
void hydrate({ routes, document: Document })
`,
  'shell.tsx': `import type { LayoutProps } from 'millrace'
export const metadata = ({ params }: LayoutProps<'/'>) => ({ title: String(Object.keys(params).length) })
export default function Shell({ children }: LayoutProps<'/'>) { return <div>{children}</div> }
`,
  'error.tsx': `import type { ErrorProps } from 'millrace'
export const metadata = ({ status = 500 }: { readonly status?: number }) => ({ title: String(status) })
export default function Failed({ retry }: ErrorProps) { return <button onClick={retry}>Again</button> }
`,
  'not-found.tsx': `export const metadata = { title: 'Not here' }
export default function NotFound() { return 'Not here' }
`,
  'loading.tsx': `export { default } from './not-found.tsx'
`,
  'plain.tsx': `export default () => null
`,
  'guard.server.ts': `import { forbidden, type GuardArgs } from 'millrace/server'
export function guard({ params, search }: GuardArgs<'/mills/[id]'>) { if (params.id === search['not']) forbidden() }
`,
  'frame.tsx': `import type { LayoutProps } from 'millrace'
type Props = LayoutProps<'/mills/[id]', typeof import('./frame.server.ts')>
export const metadata = ({ data }: Props) => ({ title: data.frame })
export default function Frame({ params, data, children }: Props) { return <div title={params.id + data.frame}>{children}</div> }
`,
  'frame.server.ts': `import type { LoaderArgs } from 'millrace/server'
export const guards = false
export const loader = async ({ params }: LoaderArgs<'/mills/[id]'>) => ({ frame: params.id })
`,
  'mill.tsx': `import type { PageProps } from 'millrace'
type Props = PageProps<'/mills/[id]', typeof import('./mill.server.ts')>
export const metadata = ({ data, params }: Props) => ({ title: data.mill + params.id })
export default function Mill({ params, data, search }: Props) { return <p>{params.id}{data.mill}{search.page.toFixed()}</p> }
`,
  'mill.server.ts': `import { z } from 'zod'
import { notFound, type LoaderArgs } from 'millrace/server'
export const search = z.object({ page: z.coerce.number().default(1) })
type Search = z.output<typeof search>
export async function loader({ params, search }: LoaderArgs<'/mills/[id]', Search>) {
  if (params.id === '') notFound()
  return { mill: params.id, page: search.page, late: Promise.resolve(1) }
}
`,
  'listed.server.ts': `import type { LoaderArgs, RoutePaths } from 'millrace/server'
export async function paths(): Promise<RoutePaths<'/listed/[id]'>> { return [{ id: '1' }] }
export const loader = ({ params }: LoaderArgs<'/listed/[id]'>) => params.id
`,
  'any-listed.server.ts': `export async function* paths() { yield {}; yield { slug: ['a', 'b'] } }
`,
  'listed.tsx': `import type { PageProps } from 'millrace'
type Props = PageProps<'/pages/listed/[[...slug]]', typeof import('./any-listed.server.ts')>
export default function Listed({ params, data }: Props) { return (params.slug ?? []).length + String(data satisfies undefined) }
`,
  'again.server.ts': `export { loader, search } from './mill.server.ts'
`,
  'two-places.tsx': `import type { PageProps } from 'millrace'
export default function Parts({ params }: PageProps<'/parts' | '/parts/[id]'>) { return 'id' in params ? String(params.id) : 'All' }
`,
  'files.tsx': `import type { PageProps } from 'millrace'
export default function Files({ params }: PageProps<'/files/[...path]'>) { return params.path.length }
`,
  'any.tsx': `import type { PageProps } from 'millrace'
export default function Any({ params, search }: PageProps) { return Object.keys({ ...params, ...search }).length }
`,
  'class.tsx': `import { Component } from 'react'
import type { PageProps } from 'millrace'
export default class Old extends Component<PageProps<'/classes/[id]'>> { override render() { return this.props.params.id } }
`,
  'memo.tsx': `import { memo } from 'react'
export { metadata } from './mill.tsx'
import Mill from './mill.tsx'
export default memo(Mill)
`,
  'unheard.tsx': `import type { PageProps } from 'millrace'
export default function Unheard({ params }: PageProps<'/unheard/[id]'>) { return params.id }
`,
  'hook.tsx': `import { useLoaderData } from 'millrace'
export default function Hook() { return useLoaderData<typeof import('./mill.server.ts')>('/hook/[id]').mill }
`,
  'gone.server.ts': `import { redirect } from 'millrace/server'
export function loader(): never { redirect('/') }
`,
  'filters.tsx': `import type { PageProps } from 'millrace'
export default function Filters({ search }: PageProps<'/filters', typeof import('./filters.server.ts')>) { return search.word }
`,
  'filters.server.ts': `import { z } from 'zod'
export const search = z.object({ word: z.string().default('') })
`,
  'numbers.server.ts': `import { z } from 'zod'
import type { LoaderArgs, SchemaOutput } from 'millrace/server'
export const params = z.object({ id: z.coerce.number() })
type Params = SchemaOutput<typeof params>
export function loader({ params }: LoaderArgs<'/numbers/[id]', {}, Params>) { return { next: params.id + 1 } }
`,
  'api.server.ts': `import { z } from 'zod'
import type { HandlerArgs, LoaderArgs, SchemaOutput } from 'millrace/server'
export const search = z.object({ page: z.coerce.number().default(1) })
export const body = z.object({ name: z.string() })
export const bodyLimit = 100
type Search = SchemaOutput<typeof search>
type Body = SchemaOutput<typeof body>
export function GET({ params, search }: LoaderArgs<'/api/mills/[id]', Search>) {
  return Response.json({ id: params.id, page: search.page })
}
export async function POST({ body }: HandlerArgs<'/api/mills/[id]', Body>): Promise<Response> {
  return Response.json(body.name)
}
export const DELETE = () => new Response(null, { status: 204 })
`,
  'lists.server.ts': `import { z } from 'zod'
import type { HandlerArgs } from 'millrace/server'
export const body = { POST: z.object({ name: z.string() }), PATCH: z.object({ wheels: z.number() }) }
export function POST({ body }: HandlerArgs<'/api/lists', { name: string }>) { return Response.json(body.name) }
export function PATCH({ body }: HandlerArgs<'/api/lists', { wheels: number }>) { return Response.json(body.wheels) }
`,
}

/** Modules that fit no entry, or not those of the slips. */
const OTHERS: Readonly<Record<string, string>> = {
  'bare.tsx': 'export const title = 1\n',
  'text.tsx': `export default 'a page'\n`,
  'needy.tsx': 'export default function Needy({ size }: { readonly size: number }) { return size }\n',
  'heads.tsx': `import type { PageProps } from 'millrace'
export const metadata = ({ params }: PageProps<'/mills/[id]'>) => ({ title: params.id })
export default function Heads() { return null }
`,
  'wrong-head.tsx': `export const metadata = { titel: 7, title: 7 }
export default function WrongHead() { return null }
`,
  'other.server.ts': `import type { LoaderArgs } from 'millrace/server'
export function loader({ params }: LoaderArgs<'/old/[id]'>) { return { other: params.id } }
`,
  'other-search.server.ts': `import { z } from 'zod'
export const search = z.object({ page: z.string().default('1') })
export function loader() { return { mill: '', page: 1, late: Promise.resolve(1) } }
`,
  'unparsed.server.ts': `import type { LoaderArgs } from 'millrace/server'
export function loader({ search }: LoaderArgs<'/old/[id]', { readonly page: number }>) { return { mill: '', page: search.page, late: Promise.resolve(1) } }
`,
  'listed-ids.server.ts': `export const paths = () => [{ id: '1' }]
export const loader = () => 1
`,
  'nothing.server.ts': 'export const load = () => 1\n',
  'lower.server.ts': 'export const get = () => new Response()\n',
  'no-answer.server.ts': 'export const GET = () => ({ ok: true })\n',
  'no-body.server.ts': `import type { HandlerArgs } from 'millrace/server'
export const POST = ({ body }: HandlerArgs<'/api/lists', { readonly name: string }>) => Response.json(body.name)
`,
}

/** One slip a table: its entry, and what the first line of the message has to say. */
const SLIPS: readonly (readonly [entry: string, says: string])[] = [
  [
    `'/a/[id]': { page: mill, loader: other }`,
    `'/a/[id]' page: takes other data than the loader of this entry returns`,
  ],
  [`'/a/[id]': { page: mill }`, `'/a/[id]' page: takes data, but this entry has no loader`],
  [`'/a/[name]': { page: mill, loader: fit }`, `'/a/[name]' page: takes other params than the pattern has`],
  [`'/(x)/a/[...id]': { page: mill, loader: fit }`, `'/(x)/a/[...id]' page: takes other params than the pattern has`],
  [`'/a': { page: unheard }`, `'/a' page: takes other params than the pattern has`],
  [`'/a/[[...path]]': { page: files }`, `'/a/[[...path]]' page: takes other params than the pattern has`],
  [`'/a/[id]': { page: mill, loader: otherSearch }`, `'/a/[id]' page: takes other search params than the schema`],
  [`'/a/[id]': { page: filters }`, `'/a/[id]' page: takes other search params than the schema`],
  [`'/a/[name]': { page: old }`, `'/a/[name]' page: takes other params than the pattern has`],
  [
    `'/a/[id]': { page: memo, loader: other }`,
    `'/a/[id]' page: takes other data than the loader of this entry returns`,
  ],
  [`'/a/[name]': { page: heads }`, `'/a/[name]' page: its metadata takes other params than the pattern has`],
  [`'/a': { page: wrongHead }`, `'/a' page: its metadata is neither an object of type Metadata nor a function`],
  [`'/a': { page: bare }`, `'/a' page: its module has no default export`],
  [`'/a': { page: text }`, `'/a' page: its default export is not a component`],
  [`'/a': { page: needy }`, `'/a' page: takes size, which it does not get`],
  [`'/a/[name]': { layout: frame, layoutLoader: frameLoader }`, `'/a/[name]' layout: takes other params than`],
  [
    `'/a/[id]': { layout: frame, layoutLoader: other }`,
    `'/a/[id]' layout: takes other data than the layoutLoader of this`,
  ],
  [`'/a/[id]': { layout: frame }`, `'/a/[id]' layout: takes data, but this entry has no layoutLoader`],
  [`'/a': { layout: bare }`, `'/a' layout: its module has no default export`],
  [`'/a': { loading: bare }`, `'/a' loading: its module has no default export`],
  [`'/a': { loading: needy }`, `'/a' loading: takes size, which it does not get`],
  [`'/a': { error: needy }`, `'/a' error: takes size, which it does not get`],
  [`'/a': { notFound: bare }`, `'/a' notFound: its module has no default export`],
  [`'/a': { forbidden: failed }`, `'/a' forbidden: takes `],
  [`'/a': { unauthorized: text }`, `'/a' unauthorized: its default export is not a component`],
  [`'/a/[name]': { page: plain, loader: fit }`, `'/a/[name]' loader: takes other params than the pattern has`],
  [`'/a/[id]': { page: plain, loader: unparsed }`, `'/a/[id]' loader: takes other search params than the schema`],
  [
    `'/a/[name]': { page: plain, loader: listed }`,
    `'/a/[name]' loader: its paths() gives no list of the params of its`,
  ],
  [`'/a/[[...id]]': { page: plain, loader: listed }`, `'/a/[[...id]]' loader: its paths() gives no list of the params`],
  [`'/a': { page: plain, loader: nothing }`, `'/a' loader: exports neither loader nor search`],
  [`'/a': { layout: shell, layoutLoader: nothing }`, `'/a' layoutLoader: exports no loader`],
  [`'/a': { layout: shell, layoutLoader: fit }`, `'/a' layoutLoader: takes other params than the pattern has`],
  [`'/a': { page: plain, guard }`, `'/a' guard: takes other params than the pattern has`],
  [`'/a': { page: plain, guard: nothing }`, `'/a' guard: exports no guard`],
  [`'/a': { handler: api }`, `'/a' handler: GET takes other params than the pattern has`],
  [`'/a': { handler: lower }`, `'/a' handler: exports no method, such as GET`],
  [`'/a': { handler: noAnswer }`, `'/a' handler: GET does not return a Response`],
  [`'/a': { handler: noBody }`, `'/a' handler: POST takes a different body than the schema`],
]

const SLIP_HEAD = `import { defineRoutes } from 'millrace'
import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
const mill = () => import('./mill.tsx'), unheard = () => import('./unheard.tsx'), files = () => import('./files.tsx')
const filters = () => import('./filters.tsx'), old = () => import('./class.tsx'), memo = () => import('./memo.tsx')
const heads = () => import('./heads.tsx'), wrongHead = () => import('./wrong-head.tsx'), bare = () => import('./bare.tsx')
const text = () => import('./text.tsx'), needy = () => import('./needy.tsx'), frame = () => import('./frame.tsx')
const shell = () => import('./shell.tsx'), failed = () => import('./error.tsx'), plain = () => import('./plain.tsx')
const fit = () => import('./mill.server.ts'), other = () => import('./other.server.ts')
const otherSearch = () => import('./other-search.server.ts'), unparsed = () => import('./unparsed.server.ts')
const frameLoader = () => import('./frame.server.ts'), nothing = () => import('./nothing.server.ts')
const guard = () => import('./guard.server.ts'), api = () => import('./api.server.ts'), lower = () => import('./lower.server.ts')
const listed = () => import('./listed-ids.server.ts')
const noAnswer = () => import('./no-answer.server.ts'), noBody = () => import('./no-body.server.ts')
export const modules = [mill, unheard, files, filters, old, memo, heads, wrongHead, bare, text, needy, frame, shell, failed, plain, fit]
export const more = [listed, other, otherSearch, unparsed, frameLoader, nothing, guard, api, lower, noAnswer, noBody]
`

const isSlip = (file: string) => /^slip-\d+/.test(file)

describe.for([
  ['with its table registered', SOUND],
  [
    'without a registered table',
    { ...SOUND, 'routes.ts': SOUND['routes.ts']?.replace(/^declare module.*$/m, '') ?? '' },
  ],
] as const)('%s, an application', { timeout: COMPILER_TIMEOUT_MS }, ([, sound]) => {
  const found: { messages: ReadonlyMap<string, readonly string[]> } = { messages: new Map() }

  beforeAll(async () => {
    const slips = SLIPS.map(
      ([entry], index) =>
        [
          `slip-${index}.ts`,
          `${SLIP_HEAD}const routes = defineRoutes({ '/fits/[id]': { page: mill, loader: fit }, ${entry} })\nexport default defineApp({ routes, document: Document })\n`,
        ] as const,
    )
    found.messages = await compileProgram({ ...sound, ...OTHERS, ...Object.fromEntries(slips) })
  }, COMPILER_TIMEOUT_MS)

  it('compiles where each module fits its entry, also one of two entries', () => {
    expect([...found.messages].filter(([file]) => !isSlip(file))).toEqual([])
  })

  it.for(SLIPS.map(([entry, says], index) => [entry, says, index] as const))('is told of %s', ([, says, index]) => {
    const lines = found.messages.get(`slip-${index}.ts`) ?? []
    expect(lines[0]).toContain(says)
    expect(lines.length).toBeLessThanOrEqual(MOST_LINES)
  })
})
