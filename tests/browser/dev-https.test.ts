import { isSameDocument, untilAlive } from 'millrace/testing'
import { expect } from 'vitest'
import { ownCertificate } from '../../scripts/dev/serve/certificate.ts'
import { browserTest as testInBrowser } from '../support/browser.ts'
import { startDevProject } from '../support/dev-project.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const LOADER = `export function loader(): string {
  return 'loaded'
}`

const SESSION = `import { z } from 'zod'
import { defineSession } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'

const sessions = defineSession({ schema: z.object({ visits: z.number() }) })

export async function loader({ context, cache }: LoaderArgs<'/'>) {
  cache({ lifetime: 'no-store' })
  const session = await sessions.open(context)
  await session.set({ visits: (session.data?.visits ?? 0) + 1 })
  return \`visits: \${session.data?.visits}\`
}`

/** The development server behind a certificate that openssl has made. */
const browserTest = testInBrowser.extend('project', async ({}, { onCleanup }) => {
  const folder = await makeTempDir('certificates')
  const certificate = await ownCertificate(folder.path, ['localhost'], process.env)
  const project = await startDevProject('build-dev', {}, { certificate })
  onCleanup(async () => {
    await project.close()
    await folder.remove()
  })
  return project
})

browserTest(
  'over https, pages are alive, saves arrive, and the session’s cookie is Secure',
  async ({ open, project }) => {
    await project.replace('loader.server.ts', LOADER, SESSION)
    expect(project.dev.url).toMatch(/^https:\/\/localhost:/)
    const page = await open({ context: { ignoreHTTPSErrors: true, baseURL: project.dev.url } })
    await page.goto('/')
    await untilAlive(page)
    expect(await page.evaluate(() => isSecureContext)).toBe(true)
    expect(await page.getByTestId('data').textContent()).toMatch(/^visits: \d+$/)
    const cookies = await page.context().cookies()
    expect(cookies.map(({ name, secure }) => [name.startsWith('__Host-'), secure])).toEqual([[true, true]])
    await page.getByRole('button').click()

    await project.replace('counter-page.tsx', 'First version', 'Second version')
    await page.getByRole('heading', { name: 'Second version' }).waitFor()
    expect(await page.getByRole('button').textContent()).toBe('1')
    expect(await isSameDocument(page)).toBe(true)
    await page.close() // before its server is gone
  },
)
