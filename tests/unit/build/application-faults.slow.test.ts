import { describe, expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { buildFault, copyProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const APP = `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
`

function routes(entries: string): Record<string, string> {
  return {
    'src/app/routes.ts': `import { defineRoutes } from 'millrace'\nexport const routes = defineRoutes({ ${entries} })`,
  }
}

test('two patterns that cannot stand together stop the build; both are named, and there is no stack', async () => {
  const fault = await buildFault(
    routes(
      `'/lab/[id]': { page: () => import('./home-page.tsx') }, '/lab/[name]': { page: () => import('./lab/page.tsx') }`,
    ),
  )
  expect(fault).toContain(`'/lab/[id]'`)
  expect(fault).toContain(`'/lab/[name]'`)
  expect(fault).toMatch(/^src\/app\/routes\.ts:2:\d+: /)
  expect(fault).not.toMatch(/^\s+at /m)
})

test('a faulty rule stops the build with its own message', async () => {
  const fault = await buildFault({
    'src/app/app.ts': `${APP}
export default defineApp({ routes, document: Document, rules: { redirects: [{ source: 'no-slash', destination: '/', permanent: true }] } })`,
  })
  expect(fault).toContain('no-slash')
  expect(fault).not.toMatch(/^\s+at /m)
})

test('tables that differ between server and browser stop the build', async () => {
  const fault = await buildFault({
    'src/app/app.ts': `${APP}
export default defineApp({ routes: { ...routes, '/extra': { page: () => import('./home-page.tsx') } }, document: Document })`,
  })
  expect(fault).toContain(`app.ts and routes.ts have different tables: '/extra' is in one of them only.`)
})

test('a module of the table that the build cannot follow stops it, and is named', async () => {
  const fault = await buildFault(routes(`'/': { page: async () => ({ default: () => null }) }`))
  expect(fault).toContain(`src/app/routes.ts:2:45: Route table: '/': page must be written as () => import('./file')`)
})

test('a page without a default export stops the build', async () => {
  const fault = await buildFault({ 'src/app/lab/page.tsx': 'export const LabPage = () => null' })
  expect(fault).toMatch(
    /^src\/app\/routes\.ts:5:61: src\/app\/lab\/page\.tsx has no default export, and is the page of '\/\(lab\)\/lab': write export default function Page\(\) \{ … \}\.$/,
  )
})

test('a faulty module of an entry is told with the place of that entry, of several that have the module', async () => {
  const table = `import { defineRoutes } from 'millrace'
export const routes = defineRoutes({
  '/': { layout: () => import('./home-page.tsx'), page: () => import('./home-page.tsx') },
  '/one': { page: () => import('./home-page.tsx'), loader: () => import('./it.server.ts') },
  '/two': { layout: () => import('./home-page.tsx'), page: () => import('./home-page.tsx'), layoutLoader: () => import('./it.server.ts') },
})
`
  const loads = { 'src/app/it.server.ts': 'export const search = 1' }
  const fault = await buildFault({ 'src/app/routes.ts': table, ...loads })
  expect(fault).toMatch(/^src\/app\/routes\.ts:5:\d+: .*the layoutLoader of '\/two', exports no loader: /)
  const misnamed = await buildFault({
    'src/app/routes.ts': table.replaceAll('it.server.ts', 'it.ts'),
    'src/app/it.ts': 'export const loader = () => 1',
  })
  expect(misnamed).toMatch(/^src\/app\/routes\.ts:4:\d+: .*src\/app\/it\.ts is the loader of '\/one'/)
})

test('a page with the loader of another one stops the build, at the line of its entry', async () => {
  const fault = await buildFault({
    'src/app/lab/page.tsx': `import type { PageProps } from 'millrace'
export default function Lab({ data }: PageProps<'/lab', typeof import('./lab.server.ts')>) { return data.lab }`,
    'src/app/lab/lab.server.ts': `export const loader = () => ({ lab: 'Lab' })`,
    ...routes(
      `'/': { page: () => import('./home-page.tsx') },\n '/lab': { page: () => import('./lab/page.tsx'), loader: () => import('./home.server.ts') }`,
    ),
  })
  expect(fault).toContain(
    `src/app/routes.ts:3:12: '/lab' page: src/app/lab/page.tsx takes the data of src/app/lab/lab.server.ts`,
  )
})

describe('a server module that would never run', () => {
  const withModule = (kind: string, code: string): Record<string, string> => ({
    ...routes(
      `'/': { layout: () => import('./home-page.tsx'), page: () => import('./home-page.tsx') }, ` +
        `'/it': { ${kind === 'handler' ? '' : "layout: () => import('./home-page.tsx'), page: () => import('./home-page.tsx'), "}` +
        `${kind}: () => import('./it.server.ts') }`,
    ),
    'src/app/it.server.ts': code,
  })

  test.for([
    ['loader', 'export const load = () => ({})', 'exports no loader'],
    ['loader', 'export default function loader() {}', 'exports no loader'],
    ['layoutLoader', 'export const guards = true\nexport const Loader = () => ({})', 'exports no loader'],
    ['guard', 'export const Guard = () => undefined', 'exports no guard, so that everything below it would be refused'],
    ['guard', `export * from 'cookie'`, `has export * from 'cookie'`],
    ['handler', `export const get = () => new Response('')`, 'exports get: a method is written in capitals, GET'],
    ['handler', 'export const handler = () => new Response()', 'exports no method'],
    // Also beside a loader: a search schema that came by it would check nothing.
    [
      'loader',
      `export const loader = () => ({})\n export * from "cookie"`,
      `has export * from 'cookie', of which nothing would be exported: name it, export { … } from 'cookie'.`,
    ],
    ['handler', `export * from 'cookie'`, `has export * from 'cookie'`],
  ] as const)('%s: %s', async ([kind, code, complaint]) => {
    const fault = await buildFault(withModule(kind, code))
    expect(fault).toMatch(/^src\/app\/routes\.ts:2:\d+: /)
    expect(fault).toContain(`src/app/it.server.ts, the ${kind} of '/it', ${complaint}`)
  })

  test.for([
    ['names what it has of a package', `export { parseCookie as loader } from 'cookie'`],
    ['has its names from a module of the project', `export * from './own.server.ts'`],
  ] as const)('is none that %s', async ([, code]) => {
    const own = { 'src/app/own.server.ts': 'export const loader = () => ({})' }
    await using project = await copyProject({ ...withModule('loader', code), ...own })
    await expect(buildApplication(project.options, {})).resolves.toBeDefined()
  })

  test('is none that exports a method in capitals, whatever it is called in small letters beside that', async () => {
    const code = `export const get = () => new Response('')\nexport { get as GET }`
    await using project = await copyProject(withModule('handler', code))
    await expect(buildApplication(project.options, {})).resolves.toBeDefined()
  })
})

test('a loader that has no name of the server stops the build, before anything of it is handed out', async () => {
  const entry = `'/': { page: () => import('./home-page.tsx'), loader: () => import('./secrets.ts') }`
  const fault = await buildFault({ ...routes(entry), 'src/app/secrets.ts': 'export const loader = () => ({})' })
  expect(fault).toContain(`src/app/routes.ts:2:84: src/app/secrets.ts is the loader of '/', and its code would reach`)
  expect(fault).toContain('.server.ts')
})

test('so does a guard', async () => {
  const entry = `'/': { page: () => import('./home-page.tsx'), guard: () => import('./guard.ts') }`
  const fault = await buildFault({ ...routes(entry), 'src/app/guard.ts': 'export const guard = () => undefined' })
  expect(fault).toContain(`src/app/guard.ts is the guard of '/', and its code would reach the browser`)
})

test('a page that has one stops it as well, without a stack', async () => {
  const entry = `'/': { page: () => import('./page.server.tsx') }`
  const fault = await buildFault({ ...routes(entry), 'src/app/page.server.tsx': 'export default () => null' })
  expect(fault).toContain(`src/app/page.server.tsx is the page of '/', which browsers load`)
  expect(fault).not.toMatch(/^\s+at /m)
})

test('a module of the table that does not exist is shown in its line', async () => {
  const fault = await buildFault(routes(`'/': { page: () => import('./missing.tsx') }`))
  expect(fault).toContain('Could not resolve "./missing.tsx"')
  expect(fault).toContain('src/app/routes.ts:2:')
})

test('a syntax error is shown in its line, without a stack', async () => {
  const fault = await buildFault({ 'src/app/lab/page.tsx': 'export default function () {\n  return <p>\n}' })
  expect(fault).toContain('src/app/lab/page.tsx:')
  expect(fault).not.toMatch(/^\s+at /m)
})

test('an application that fails while it is evaluated is shown in its own sources', async () => {
  const fault = await buildFault({
    'src/app/app.ts': `${APP}\nthrow new Error('no database')\nexport default defineApp({ routes, document: Document })`,
  })
  expect(fault).toContain('src/app/app.ts could not be evaluated:\nError: no database')
  expect(fault).toContain('app.ts:5:')
})

test('an application that ends its process stops the build', async () => {
  const fault = await buildFault({
    'src/app/app.ts': `${APP}\nprocess.exit(3)\nexport default defineApp({ routes, document: Document })`,
  })
  expect(fault).toContain('its process ended early, with exit code 3')
})

test.for([
  [
    'routes.ts without its table',
    { 'src/app/routes.ts': 'export const table = {}' },
    'No matching export in "src/app/routes.ts"',
  ],
  [
    'app.ts without its default export',
    { 'src/app/app.ts': 'export const app = 1' },
    'No matching export in "src/app/app.ts"',
  ],
  [
    'a folder without client.tsx',
    { 'src/app/client.tsx': undefined },
    'src/app is not an application: client.tsx is missing.',
  ],
] as const)('%s stops the build', async ([, files, message]) => {
  expect(await buildFault(files)).toContain(message)
})

test('a link to a route that was renamed stops the build, with its place and the nearest pattern', async () => {
  const page = `import { Link, href } from 'millrace'

export default function HomePage() {
  return (
    <p>
      <Link href="/labb">Lab</Link> <a href={href('/labb')}>Lab</a> <Link href="/">Home</Link>
    </p>
  )
}
`
  const fault = await buildFault({ 'src/app/home-page.tsx': page })
  expect(fault).toContain('src/app/home-page.tsx:6:18: no route answers /labb. The nearest pattern is /')
  expect(fault).toContain(`src/app/home-page.tsx:6:51: href('/labb') is not a pattern of the table.`)
  expect(fault).not.toMatch(/^\s+at /m)
})
