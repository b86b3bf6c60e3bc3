/** What a save costs: the parts of a build that it starts, counted and not timed. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DevWork } from '../../../scripts/dev/compile/dev-parts.ts'
import { startDevServer, type DevServer } from '../../../scripts/dev/dev-server.ts'
import { openDevPage } from './dev-page.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PAGE = 'src/app/lab/page.tsx'
const CARD = 'src/app/card.module.css'
const LOADER = 'src/app/home.server.ts'

let project: FixtureProject
let dev: DevServer
let work: DevWork[]

beforeEach(async () => {
  project = await copyProject({})
  work = []
  dev = await startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    env: { ...process.env },
    session: 'one',
    print: () => undefined,
    onWork: (started) => void work.push(started),
  })
})

afterEach(async () => {
  await dev.close()
  await project.remove()
})

const read = async (path: string): Promise<string> => (await fetch(dev.url + path)).text()

/** The work until pages hear that the files are applied. */
async function workOf(files: Readonly<Record<string, string>>): Promise<readonly DevWork[]> {
  await using page = await openDevPage(dev)
  work.length = 0
  await project.change(files)
  await page.next('built')
  return [...work]
}

test('a component needs no bundle, and a new server only when that is asked for something', async () => {
  await read('/_m/assets/src/app/lab/page.tsx')
  const component = 'export default function LabPage() {\n  return <p>Changed</p>\n}\n'
  expect(await workOf({ [PAGE]: component })).toEqual([])
  expect(await read('/(lab)/lab')).toContain('Changed')
  expect(work).toEqual(['server start'])
  expect(await workOf({ [PAGE]: component.replace('Changed', 'Changed again') })).toEqual([])
  expect(await read('/(lab)/lab')).toContain('Changed again')
})

test('a stylesheet with the same class names starts nothing', async () => {
  await read('/_m/assets/src/app/card.tsx')
  expect(await workOf({ [CARD]: (await project.read(CARD)).replace('navy', 'teal') })).toEqual([])
  expect(await read('/_m/assets/styles/src/app/card.module.css')).toContain('teal')
})

test('a loader is compiled alone and starts the server, and a bundle is built where its imports change', async () => {
  const text = await project.read(LOADER)
  expect(await workOf({ [LOADER]: `${text}\nconsole.log('again')\n` })).toEqual(['server start'])
  const other = `import { note } from './note.ts'\n${text}\nconsole.log(note)\n`
  const rebuilt = await workOf({ [LOADER]: other, 'src/app/note.ts': `export const note = 'one'\n` })
  expect(rebuilt).toContain('server bundle')
})

test('a module that is replaced alone stays replaced when something else is built later', async () => {
  await read('/_m/assets/src/app/lab/page.tsx')
  const component = 'export default function LabPage() {\n  return <p>Replaced</p>\n}\n'
  await workOf({ [PAGE]: component })
  const routes = await project.read('src/app/routes.ts')
  expect(await workOf({ 'src/app/routes.ts': `${routes}\nconsole.log('changed')\n` })).toContain('table and actions')
  expect(await read('/(lab)/lab')).toContain('Replaced')
})
