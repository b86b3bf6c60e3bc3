/** What a save costs: the parts of a build that it starts, counted and not timed. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
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

/** What a page is told first of files: that they are applied, or why not. */
async function newsOf(files: Readonly<Record<string, string>>): Promise<string> {
  await using page = await openDevPage(dev)
  await project.change(files)
  const news = await page.next('built', 'failure')
  return news.type === 'built' ? 'built' : news.failure.message
}

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

describe('a page with a stylesheet of its own', () => {
  const SHEET = 'src/app/lab/lab.module.css'
  const LAYOUT = 'src/app/lab/layout.tsx'
  const EXTRA = '.note { color: navy } .extra { color: teal }'
  const url = '/(lab)/lab'

  beforeEach(async () => {
    const page = `import styles from './lab.module.css'
export default function LabPage() {
  return <p className={styles['note']}>{styles['extra'] ?? 'plain'}</p>
}
`
    await workOf({ [PAGE]: page, [SHEET]: '.note { color: navy }' })
    await read(`/_m/assets/${PAGE}`)
  })

  test('gets a new class without a bundle, on both sides, and loses it again', async () => {
    expect(await workOf({ [SHEET]: EXTRA })).toEqual([])
    expect(await read(url)).toMatch(/lab_\w+_extra/)
    expect(await read(`/_m/assets/${PAGE}`)).toMatch(/lab_\w+_extra/)
    expect(await workOf({ [SHEET]: '.note { color: navy }' })).toEqual([])
    expect(await read(url)).toContain('plain')
    expect(await read(`/_m/assets/${PAGE}`)).not.toMatch(/lab_\w+_extra/)
  })

  test('has the new class on the server after a build, and after another module was compiled alone', async () => {
    const [layout, loader] = await Promise.all([project.read(LAYOUT), project.read(LOADER)])
    expect(await workOf({ [LOADER]: `${loader}\nvoid 1\n` })).not.toContain('server bundle')
    const other = `import { Card } from '../card.tsx'\n${layout}\nvoid Card\n`
    expect(await workOf({ [LAYOUT]: other, [SHEET]: EXTRA })).toContain('server bundle')
    expect(await read(url)).toMatch(/lab_\w+_extra/)
    expect(await workOf({ [LOADER]: `${loader}\nvoid 2\n` })).not.toContain('server bundle')
    expect(await read(url)).toMatch(/lab_\w+_extra/)
  })

  test('has a class that another stylesheet composes', async () => {
    const user = `.card { composes: note from './lab/lab.module.css' }`
    await workOf({ [CARD]: `${user} .title { color: navy }` })
    await workOf({ [LOADER]: `${await project.read(LOADER)}\nvoid 1\n` })
    await workOf({ [SHEET]: `.base { color: red } .note { composes: base; color: navy }` })
    expect(await read('/')).toMatch(/lab_\w+_base lab_\w+_note card_\w+_card/)
  })
})

test('a loader with another import needs no bundle for browsers, also after a component was compiled alone', async () => {
  await read(`/_m/assets/${PAGE}`)
  await workOf({ [PAGE]: 'export default function LabPage() {\n  return <p>Compiled alone</p>\n}\n' })
  const work = await workOf({ [LOADER]: `import 'node:path'\n${await project.read(LOADER)}` })
  expect(work).toContain('server bundle')
  expect(work).not.toContain('browser bundle')
  expect(await read('/(lab)/lab')).toContain('Compiled alone')
  const module = `import { Card } from '../card.tsx'\nexport default () => <Card title="Imported" />\n`
  expect(await workOf({ [PAGE]: module })).toContain('browser bundle')
  expect(await read('/(lab)/lab')).toContain('Imported')
})

test('an export more needs no bundle', async () => {
  await read(`/_m/assets/${PAGE}`)
  expect(await workOf({ [PAGE]: `${await project.read(PAGE)}\nexport const more = 1\n` })).toEqual(['server start'])
})

test('an export more is refused where the table has rules for the module', async () => {
  const handler = 'src/app/feed.server.ts'
  const text = await project.read(handler)
  expect(await newsOf({ [handler]: `${text}\nexport function post() {}\n` })).toContain(
    'a method is written in capitals',
  )
})

test('an export more is refused where a list of exports has its name twice', async () => {
  const page = `import { two } from './all.ts'
export default function LabPage() {
  return <p>{two}</p>
}
`
  await workOf({
    [PAGE]: page,
    'src/app/lab/all.ts': `export * from './one.ts'\nexport * from './two.ts'\n`,
    'src/app/lab/one.ts': 'export const one = 1\n',
    'src/app/lab/two.ts': 'export const two = 2\n',
  })
  const news = await newsOf({ 'src/app/lab/one.ts': 'export const one = 1\nexport const two = 1\n' })
  expect(news).toContain('"two"')
})
