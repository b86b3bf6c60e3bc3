/** An application with `reports: false`, beside the same one that reports. */
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseDsn } from '../../src/server/config/dsn.ts'
import { buildApplication } from '../../scripts/build/build-application.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { linkProject } from '../support/linked-project.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const LOADED = resolve(import.meta.dirname, '../fixtures/loaded-packages.cjs')
const RELAY = derivedTunnelPath('')

const FILES = {
  'src/app/document.tsx': `import type { DocumentProps } from 'millrace'
export function Document({ head, children }: DocumentProps) {
  return <html lang="en"><head>{head}</head><body>{children}</body></html>
}
`,
  'src/app/routes.ts': `import { defineRoutes } from 'millrace'
export const routes = defineRoutes({
  '/': { page: () => import('./page.tsx') },
  '/broken': { page: () => import('./page.tsx'), loader: () => import('./broken.server.ts') },
})
`,
  'src/app/page.tsx': 'export default function Page() {\n  return <h1>A page</h1>\n}\n',
  'src/app/broken.server.ts': `export function loader({ context }) {
  if (context.reports !== undefined) throw new Error('there is an inbox')
  throw new Error('the mill is broken')
}
`,
  'src/app/client.tsx': `import { hydrate } from 'millrace'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
void hydrate({ routes, document: Document })
`,
}

const app = (more: string): string => `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'
export default defineApp({ routes, document: Document${more} })
`

const projects = { without: '', with: '' }
beforeAll(async () => {
  const temp = await makeTempDir('reports-off')
  for (const [name, more] of [
    ['without', ', reports: false'],
    ['with', ''],
  ] as const) {
    projects[name] = await linkProject(join(temp.path, name), { ...FILES, 'src/app/app.ts': app(more) })
    const root = projects[name]
    await buildApplication({ root, app: join(root, 'src/app'), out: join(root, 'dist') }, {})
  }
  return () => temp.remove()
}, 180_000)

async function started(name: keyof typeof projects, env: Readonly<Record<string, string>> = {}): Promise<BuiltServer> {
  const nodeArgs = ['--require', LOADED]
  const server = await serverOfTest({ entry: join(projects[name], 'dist/server/main.js'), env, nodeArgs })
  return server
}

async function scriptsOf(name: keyof typeof projects): Promise<readonly string[]> {
  const names = await readdir(join(projects[name], 'dist/public'))
  return names.filter((file) => file.endsWith('.js')).map((file) => file.replace(/-\w+\.js$/, ''))
}

describe('reports: false', () => {
  test('takes the SDK out of the build, and the recorder and the place for reports out of documents', async () => {
    expect(await scriptsOf('with')).toContain('reports')
    const [less, more] = [await scriptsOf('without'), await scriptsOf('with')]
    expect(more.filter((script) => script === 'reports')).toHaveLength(1)
    expect(less.toSorted()).toEqual(more.filter((script) => script !== 'reports').toSorted())
    const manifest = await readFile(join(projects.without, 'dist/manifest.json'), 'utf8')
    expect(JSON.parse(manifest)).not.toHaveProperty('reports')

    const answers = await Promise.all(
      (['without', 'with'] as const).map(async (name) => {
        const answer = await fetch((await started(name, { SENTRY_TRACES_SAMPLE_RATE: '1' })).origin)
        return { html: await answer.text(), headers: [...answer.headers].join('\n') }
      }),
    )
    const [quiet, telling] = answers.map(({ html, headers }) => ({
      bytes: gzipSync(html).byteLength,
      hasRecorder: html.includes('millraceReports'),
      marks: /report-uri|report-to|traceparent|sentry/i.test(headers),
    }))
    expect(quiet).toMatchObject({ hasRecorder: false, marks: false })
    expect(telling).toMatchObject({ hasRecorder: true, marks: true })
    expect((telling?.bytes ?? 0) - (quiet?.bytes ?? 0)).toBeGreaterThan(500)
  })

  test('answers at the place of the relay by the table, keeps nothing, and logs failures with their digest', async () => {
    const server = await started('without')
    const body = `{"dsn":"https://inbox@inbox.invalid/1"}\n{"type":"event","length":2}\n{}\n`
    expect((await fetch(server.origin + RELAY, { method: 'POST', body })).status).toBe(404)
    expect((await fetch(server.origin + RELAY)).status).toBe(404)
    expect((await fetch(`${server.origin}/broken`)).status).toBe(500)
    await expect
      .poll(() => server.logs())
      .toContainEqual(
        expect.objectContaining({
          msg: 'uncaught failure',
          digest: expect.stringMatching(/^[\da-f]{12}$/) as string,
          err: expect.objectContaining({ message: 'the mill is broken' }) as object,
        }),
      )
    const files = await readdir(server.dataDir)
    await server.stop(0)
    expect(files.filter((file) => /report|spool|inbox/.test(file))).toEqual([])
    expect(server.stderr()).toMatch(/^loaded: .*express/m)
    expect(server.stderr()).not.toMatch(/^loaded: .*@sentry/m)
  })

  test('loads the SDK of the server where there are reports', async () => {
    const server = await started('with')
    expect((await fetch(`${server.origin}/broken`)).status).toBe(500)
    await server.stop(0)
    expect(server.stderr()).toMatch(/^loaded: .*@sentry/m)
  })

  test('leaves the place of the relay to a route', async () => {
    const env = { REPORT_TUNNEL_PATH: '/broken' }
    expect((await fetch(`${(await started('without', env)).origin}/broken`)).status).toBe(500)
    await expect(started('with', env)).rejects.toThrow(/REPORT_TUNNEL_PATH: "\/broken" is refused/)
  })

  test('is refused beside SENTRY_DSN, in one line', async () => {
    const dsn = 'https://key@errors.example.com/1'
    expect(parseDsn(dsn)).toBeDefined()
    await expect(started('without', { SENTRY_DSN: dsn })).rejects.toThrow(
      /exit code 1[^]*^SENTRY_DSN: app\.ts has reports: false\. Unset the variable, or take reports: false out$/m,
    )
  })
})
