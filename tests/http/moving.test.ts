/** Runs the worked examples of the guides for those who come from other frameworks, as the guides print them. */
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestApp, type TestApp } from 'millrace/testing'
import type { AppDefinition } from 'millrace/server'
import { writeFiles } from '../support/linked-project.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { applyEdits } from '../support/tutorial.ts'
import { fencedBlocks } from '../unit/app/handbook-samples.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** What the guides leave to the application that moves. */
const WORLD = {
  'src/app/routes.ts': `import { defineRoutes } from 'millrace'

export const routes = defineRoutes({
  '/': { page: () => import('./home.tsx'), notFound: () => import('./home.tsx') },
})
`,
  'src/app/home.tsx': 'export default () => <h1>Mills</h1>\n',
  'src/app/document.tsx': 'export const Document = ({ children }) => <html><body>{children}</body></html>\n',
  'src/app/app.ts': `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

export default defineApp({ routes, document: Document })
`,
  'src/app/parts/parts.server.ts': `const parts = [{ id: 1, name: 'Wheel' }]
export const readParts = async () => parts
export const addPart = async (name) => parts.push({ id: parts.length + 1, name })
`,
  'src/app/legacy.server.ts': `import express from 'express'

export const legacy = express()
legacy.disable('x-powered-by')
legacy.engine('txt', (_path, { title }, done) => done(null, '<h1>' + title + '</h1>'))
legacy.set('views', import.meta.dirname)
legacy.get('/old', (_req, res) => res.render('old.txt', { title: 'Old' }))
legacy.get('/moved', (_req, res) => res.redirect('/old'))
`,
  'src/app/old.txt': '',
}

const state = { temp: undefined as TempDir | undefined }

beforeAll(async () => {
  state.temp = await makeTempDir('moving')
  const packages = join(state.temp.path, 'node_modules')
  await mkdir(packages)
  await symlink(PROJECT, join(packages, 'millrace'))
  for (const name of ['react', 'zod', 'express'])
    await symlink(join(PROJECT, 'node_modules', name), join(packages, name))
})

afterAll(() => state.temp?.remove())

/** The application that a guide's files make. */
async function movedFrom(guide: string): Promise<TestApp> {
  const root = join(state.temp?.path ?? '', guide)
  await writeFiles(root, WORLD)
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs', `${guide}.md`), 'utf8'))
  await applyEdits(
    root,
    blocks.filter(({ language }) => language === 'ts' || language === 'tsx').map(({ code }) => code),
  )
  const file = join(root, 'src/app/app.ts')
  const { default: application } = (await import(file)) as { default: AppDefinition }
  return createTestApp(application)
}

function withMills(): void {
  const mills = new Map([['7', { id: '7', name: 'Old mill', owner: 'ann' }]])
  vi.stubGlobal('findMill', async (id: string) => mills.get(id))
  vi.stubGlobal('saveMill', async (mill: { id: string; name: string; owner: string }) => void mills.set(mill.id, mill))
  vi.stubGlobal('readGauge', async () => 42)
}

test('from Next.js: the mill is shown with its level, renamed, or missing; an empty name is a fault of its field', async () => {
  withMills()
  await using app = await movedFrom('from-nextjs')
  const page = await app.visitor().get('/mills/7')
  expect([page.text('h1'), page.html.includes('42')]).toEqual(['Old mill', true])
  expect((await page.submit('form', { name: 'New mill' })).text('h1')).toBe('New mill')
  const refused = await page.submit('form', { name: '' })
  expect([refused.status, refused.text('form')]).toEqual([422, expect.stringContaining('Please give a name.')])
  expect((await page.submit('form', { name: 'x'.repeat(81) })).status).toBe(422)
  expect((await app.visitor().get('/mills/8')).status).toBe(404)
})

test('from React Router: the form has its fault, and leads on; a missing mill has its page', async () => {
  withMills()
  await using app = await movedFrom('from-react-router')
  const page = await app.visitor().get('/mills/7')
  const refused = await page.submit('form', { name: '' })
  expect([refused.status, refused.text('form')]).toEqual([422, expect.stringContaining('Please give a name.')])
  expect((await page.submit('form', { name: 'x'.repeat(81) })).status).toBe(422)
  expect((await refused.submit('form', { name: 'New mill' })).url).toBe('/mills')
  expect((await app.visitor().get('/mills/7')).text('h1')).toBe('New mill')
  const missing = await app.visitor().get('/mills/8')
  expect([missing.status, missing.text('h1')]).toEqual([404, 'There is no such mill'])
})

test('from Express: the list grows, and the old application still renders its views', async () => {
  await using app = await movedFrom('from-express')
  const page = await app.visitor().get('/parts')
  expect(page.headers.has('x-powered-by')).toBe(false)
  const refused = await page.submit('form', { name: ' ' })
  expect([refused.status, refused.text('form')]).toEqual([422, expect.stringContaining('Please give a name.')])
  expect((await page.submit('form', { name: 'x'.repeat(81) })).status).toBe(422)
  expect((await page.submit('form', { name: 'Axle' })).all('li').map(({ text }) => text)).toEqual(['Wheel', 'Axle'])
  expect((await app.visitor().get('/moved')).text('h1')).toBe('Old')
  const missing = await app.visitor().get('/missing')
  expect([missing.status, missing.text('h1')]).toEqual([404, 'Mills'])
})
