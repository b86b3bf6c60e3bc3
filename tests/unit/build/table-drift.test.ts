import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BuildFault } from '../../../scripts/build/build-fault.ts'
import { entryPlace } from '../../../scripts/build/project/entry-places.ts'
import { checkDrift, createDriftFinder } from '../../../scripts/build/project/table-drift.ts'
import { buildFailures } from '../../../scripts/dev/tell/dev-failures.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const MILL = `import type { PageProps } from 'millrace'
type Props = PageProps<'/mills/[id]', typeof import('./mill.server.ts')>
export default function Mill({ params, data }: Props) { return params.id + data.mill }
`

const FILES: Readonly<Record<string, string>> = {
  'mill.tsx': MILL,
  'memo.tsx': MILL.replace('export default function Mill', 'const Mill = memo(function Mill')
    .replace(/\}\n$/, '})\nexport { Mill as default }\n')
    .replace('from', `from 'react'; import type { PageProps as Of } from`)
    .replace('PageProps<', 'Of<'),
  'arrow.tsx': `import { type PageProps } from 'millrace'
export default ({ params }: PageProps<'/mills/[id]'>) => params.id
`,
  'interface.tsx': `import { type LayoutProps } from 'millrace'
interface Props extends LayoutProps<'/mills/[id]', typeof import('./mill.server.ts')> {}
export default function Frame(props: Props) { return props.children }
`,
  'two.tsx': `import type { PageProps } from 'millrace'
export default function Two({ params }: PageProps<'/mills/[id]' | '/yard'>) { return Object.keys(params).length }
`,
  'helper.tsx': `import type { PageProps } from 'millrace'
export function Part({ params }: PageProps<'/mills/[id]'>) { return params.id }
export default function Whole() { return null }
`,
  'own.tsx': `type PageProps<Pattern> = { params: Pattern }
export default function Own({ params }: PageProps<'/mills/[id]'>) { return params }
`,
  'mill.server.ts': `import type { LoaderArgs } from 'millrace/server'
export function loader({ params }: LoaderArgs<'/mills/[id]'>) { return { mill: params.id } }
`,
  'wheel.server.ts': `export function loader() { return { wheel: 1 } }
`,
  'again.server.ts': `export { loader } from './mill.server.ts'
`,
  'numbers.server.ts': `import type { LoaderArgs } from 'millrace/server'
export function loader({ params }: LoaderArgs<'/mills/[id]', {}, { n: number }>) { return params.n }
`,
  'guard.server.ts': `import type { GuardArgs } from 'millrace/server'
export const guard = ({ params }: GuardArgs<'/mills/[id]'>) => params.id
`,
  'api.server.ts': `import type { HandlerArgs } from 'millrace/server'
export function GET() { return new Response() }
export async function POST({ params }: HandlerArgs<'/files/[...path]'>) { return new Response(params.path[0]) }
`,
}

async function project(files: Readonly<Record<string, string>> = {}) {
  const temp = await makeTempDir('drift')
  const root = await realpath(temp.path)
  for (const [name, text] of Object.entries({ ...FILES, ...files })) {
    await mkdir(dirname(join(root, 'src/app', name)), { recursive: true })
    await writeFile(join(root, 'src/app', name), text)
  }
  return { root, app: join(root, 'src/app'), [Symbol.asyncDispose]: () => temp.remove() }
}

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The faults of a table whose modules are in `src/app`. */
async function drift(table: Table): Promise<readonly string[]> {
  await using folder = await project()
  const sources = Object.entries(table).map(
    ([key, entry]) =>
      [key, Object.fromEntries(Object.entries(entry).map(([kind, name]) => [kind, `src/app/${name}`]))] as const,
  )
  return createDriftFinder(folder.root)(Object.fromEntries(sources)).map(({ message }) => message)
}

const PARAMS = `takes the params of '/mills/[id]', which this pattern does not have`
const fits = { '/mills/[id]': { page: 'mill.tsx', loader: 'mill.server.ts' } }

describe('a module that says something else than its entry', () => {
  test.for<readonly [string, Table, string]>([
    ['page of another pattern', { ...fits, '/other/[name]': { page: 'mill.tsx', loader: 'mill.server.ts' } }, PARAMS],
    ['page in memo', { '/other/[name]': { page: 'memo.tsx', loader: 'mill.server.ts' } }, PARAMS],
    ['arrow function', { '/other': { page: 'arrow.tsx' } }, PARAMS],
    ['list for a text', { '/other/[...id]': { page: 'arrow.tsx' } }, PARAMS],
    ['layout', { '/other': { layout: 'interface.tsx', layoutLoader: 'mill.server.ts' } }, PARAMS],
    ['loader', { '/other/[name]': { page: 'helper.tsx', loader: 'mill.server.ts' } }, PARAMS],
    ['guard', { '/other': { page: 'helper.tsx', guard: 'guard.server.ts' } }, PARAMS],
    ['handler', { '/other': { handler: 'api.server.ts' } }, `takes the params of '/files/[...path]'`],
    [
      'loader of another page',
      { '/mills/[id]': { page: 'mill.tsx', loader: 'wheel.server.ts' } },
      'takes the data of src/app/mill.server.ts, and the loader of this entry is src/app/wheel.server.ts',
    ],
    ['no loader', { '/mills/[id]': { page: 'mill.tsx' } }, 'src/app/mill.server.ts, and this entry has no loader'],
    [
      'no layoutLoader',
      { '/mills/[id]': { layout: 'interface.tsx' } },
      'src/app/mill.server.ts, and this entry has no layoutLoader',
    ],
  ])('%s', async ([, table, says]) => {
    const found = await drift(table)
    expect(found.join('\n')).toContain(says)
  })

  test.for<readonly [string, Table]>([
    ['both patterns have its params', { ...fits, '/yard/[part]/[id]': { page: 'mill.tsx', loader: 'mill.server.ts' } }],
    ['it names several patterns', { '/yard': { page: 'two.tsx' }, '/mills/[id]': { page: 'two.tsx' } }],
    ['another component of its module does', { '/yard': { page: 'helper.tsx' } }],
    ['its type is its own', { '/yard': { page: 'own.tsx' } }],
    ['its loader has its own schema of params', { '/yard/[n]': { page: 'helper.tsx', loader: 'numbers.server.ts' } }],
    ['its loader exports the same', { '/mills/[id]': { page: 'mill.tsx', loader: 'again.server.ts' } }],
    ['a second entry has a loader like it', { ...fits, '/old/[id]': { page: 'mill.tsx', loader: 'wheel.server.ts' } }],
    ['the entry has groups', { '/(site)/mills/[id]': { page: 'mill.tsx', loader: 'mill.server.ts' } }],
  ])('is none if %s', async ([, table]) => {
    expect(await drift(table)).toEqual([])
  })

  test('stops the build at the line of its entry', async () => {
    await using folder = await project({
      'routes.ts': `import { defineRoutes } from 'millrace'
export const routes = defineRoutes({
  '/mills/[id]': {
    page: () => import('./mill.tsx'),
    loader: () => import('./wheel.server.ts'),
  },
})
`,
    })
    const sources = { '/mills/[id]': { page: 'src/app/mill.tsx', loader: 'src/app/wheel.server.ts' } }
    expect(() => checkDrift(folder, sources)).toThrow(
      `src/app/routes.ts:4:5: '/mills/[id]' page: src/app/mill.tsx takes`,
    )
  })
})

test('the development server shows a fault of the build at its place', async () => {
  await using folder = await project({ 'routes.ts': 'one\ntwo\n' })
  const place = { file: 'src/app/routes.ts', line: 2, column: 1 }
  const [failure] = buildFailures(folder.root, new BuildFault('It does not fit.', place))
  expect(failure).toMatchObject({ message: 'It does not fit.', frames: [{ ...place, own: true }] })
  expect(failure?.excerpt).toContain('> 2 | two')
})

describe('the place of an entry', () => {
  test('is that of the member, else of the key, in any file of routes', async () => {
    await using folder = await project({
      'routes.ts': `export const routes = { ...more, '/a': { ...fallbacks, page: () => import('./a.tsx') } }\n`,
      'shop/routes.ts': `export const more = {\n  "/b/[id]": entry,\n}\n`,
    })
    const at = (key: string, member?: string) => entryPlace(folder, key, member)
    expect(at('/a', 'page')).toEqual({ file: 'src/app/routes.ts', line: 1, column: 56 })
    expect(at('/a', 'error')).toEqual({ file: 'src/app/routes.ts', line: 1, column: 34 })
    expect(at('/b/[id]', 'page')).toEqual({ file: 'src/app/shop/routes.ts', line: 2, column: 3 })
    expect(at('/none')).toBeUndefined()
  })
})
