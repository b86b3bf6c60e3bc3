import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DevFailure } from '../../../src/client/dev/dev-messages.ts'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { decodeSegmentFiles } from '../../../src/shared/protocol/segment-files.ts'
import { startDevServer, type DevServer } from '../../../scripts/dev/dev-server.ts'
import { openDevPage, type DevPage } from './dev-page.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PAGE = 'src/app/lab/page.tsx'
const PAGE_URL = '/_m/assets/src/app/lab/page.tsx'
const ACTIONS = 'src/app/lab/actions.server.ts'
const ACTIONS_URL = `/_m/assets/${ACTIONS}`

let project: FixtureProject
let dev: DevServer
let printed: string[]

beforeEach(async () => {
  project = await copyProject({ 'docs/note.md': 'A note' })
  printed = []
  dev = await startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    env: { ...process.env, PUBLIC_TITLE: 'Title' },
    session: 'one',
    print: (text) => void printed.push(text),
  })
})

afterEach(async () => {
  await dev.close()
  await project.remove()
})

function component(text: string): string {
  return `export default function LabPage() {\n  return <p>${text}</p>\n}\n`
}

async function read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await fetch(dev.url + path, { headers })).text()
}

const openPage = (): Promise<DevPage> => openDevPage(dev)

test('a saved component is served, rendered by the server, and refreshed in open pages', async () => {
  expect(await read('/(lab)/lab')).toContain('The lab')
  expect(await read(PAGE_URL)).toContain('The lab')
  await using page = await openPage()
  await project.change({ [PAGE]: component('Changed') })
  const { modules, styles } = await page.next('update')
  expect(modules).toEqual([{ key: PAGE, url: `${PAGE_URL}?v=1` }])
  expect(styles).toEqual([])
  expect(await read(modules[0]?.url ?? '')).toContain('Changed')
  expect(await read('/(lab)/lab')).toContain('Changed')
})

test('the client router finds the files of the modules as they are by now', async () => {
  const list = '/_m/assets/segments-development.json'
  const first = await fetch(dev.url + list)
  expect(first.headers.get('cache-control')).toBe('no-cache')
  const scripts = (record: unknown) => decodeSegmentFiles(record).of('/(lab)/lab', 'page')?.scripts
  expect(scripts(await first.json())).toEqual([PAGE_URL])
  await using page = await openPage()
  await read(PAGE_URL)
  await project.change({ [PAGE]: component('Changed') })
  await page.next('update')
  expect(scripts(JSON.parse(await read(list)))).toEqual([`${PAGE_URL}?v=1`])
})

test('a page that loads again is sent the files that have changed, and no others', async () => {
  const ask = (etag: string) => fetch(dev.url + PAGE_URL, { headers: { 'If-None-Match': etag } })
  const etag = (await ask('"other"')).headers.get('etag') ?? ''
  const same = await ask(etag)
  expect([same.status, await same.text(), same.headers.get('cache-control')]).toEqual([304, '', 'no-cache'])
  await using page = await openPage()
  await project.change({ [PAGE]: component('Changed') })
  await page.next('update')
  const changed = await ask(etag)
  expect(changed.status).toBe(200)
  expect(await changed.text()).toContain('Changed')

  // Packages have another URL when they change.
  const react = /"([^"]*\/vendor\/[^"]+)"/.exec(await read(PAGE_URL))?.[1] ?? ''
  expect((await fetch(dev.url + react)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test('a saved stylesheet is fetched anew, without anything else', async () => {
  const styles = '/_m/assets/styles/src/app/card.module.css'
  expect(await read(styles)).toContain('color: navy')
  await read('/_m/assets/src/app/card.tsx')
  await using page = await openPage()
  await project.change({
    'src/app/card.module.css': (await project.read('src/app/card.module.css')).replace('navy', 'teal'),
  })
  expect(await page.next('update')).toEqual({ type: 'update', modules: [], styles: [styles] })
  expect(await read(styles)).toContain('color: teal')
})

test('a stylesheet that names a file which is not there is told as a failed build, and mending it is enough', async () => {
  await using page = await openPage()
  const card = 'src/app/card.module.css'
  const text = await project.read(card)
  await project.change({ [card]: `${text}\n.drawn { background: url('./nowhere.svg'); }\n` })
  const { failure } = await page.next('failure')
  expect(failure.message).toContain('nowhere.svg')
  expect(failure.frames[0]?.file).toContain(card)
  await project.change({ [card]: text })
  await page.next('built')
})

test('what browsers will not understand in a stylesheet is said in the terminal, once', async () => {
  await using page = await openPage()
  const warned = (): number => printed.filter((text) => text.includes('card.module.css')).length
  await project.change({ 'src/app/card.module.css': '.card { color: navy }\n.card } {\n' })
  await page.next('update', 'reload')
  expect(warned()).toBe(1)
  await project.change({ [PAGE]: component('Changed') })
  await page.next('update', 'reload')
  expect(warned()).toBe(1)
})

test('a class that is new in a stylesheet refreshes the components that use it', async () => {
  await read('/_m/assets/src/app/card.tsx')
  await using page = await openPage()
  await project.change({
    'src/app/card.module.css': `${await project.read('src/app/card.module.css')}\n.fresh { top: 0 }`,
  })
  const { modules } = await page.next('update')
  expect(modules.map(({ key }) => key)).toEqual(['src/app/card.tsx'])
})

test('a change of a loader has pages fetch their data again', async () => {
  await using page = await openPage()
  await project.change({ 'src/app/home.server.ts': 'export const loader = () => "changed"' })
  expect(await page.next('refresh', 'update', 'reload')).toEqual({ type: 'refresh' })
})

test('a change of a module that is not a component refreshes its users, and the data that loaders may make with it', async () => {
  const words = 'src/app/words.ts'
  await using page = await openPage()
  await project.change({ [words]: `export const word = 'one'` })
  await page.next('built')
  await project.change({ [PAGE]: `import { word } from '../words.ts'\n${component('{word}')}` })
  await page.next('built')
  await page.next('update', 'reload', 'refresh')
  await read(PAGE_URL)
  await read(`/_m/assets/${words}`)
  await project.change({ [words]: `export const word = 'two'` })
  expect((await page.next('update', 'reload')).type).toBe('update')
  expect(await page.next('refresh', 'update', 'reload')).toEqual({ type: 'refresh' })
  expect(await read('/(lab)/lab')).toContain('two')
})

test.for([
  ['the table', 'src/app/routes.ts', undefined],
  ['a text that the server reads while it runs', 'docs/note.md', 'Another note'],
])('a change of %s loads the document anew', async ([, file = '', text]) => {
  await read('/_m/assets/src/app/client.tsx')
  await read('/_m/assets/src/app/routes.ts')
  await using page = await openPage()
  await project.change({ [file]: text ?? `${await project.read(file)}\nconsole.log('changed')` })
  expect(await page.next('reload', 'refresh')).toEqual({ type: 'reload' })
})

test('a saved action replaces the server, and open pages keep all that they have', async () => {
  const references = await read(ACTIONS_URL)
  expect(references).toContain(`actionReference("${actionId('lab/actions.server.ts', 'sign')}")`)
  expect(references).not.toContain('canary')
  await using page = await openPage()
  await project.change({ [ACTIONS]: `${await project.read(ACTIONS)}\nconsole.log('another handler')` })
  expect(await page.next('update', 'reload')).toEqual({ type: 'update', modules: [], styles: [] })
  expect(await read('/actions')).toContain('"sign"')
  expect(printed).toContain('another handler')
  expect(await read(ACTIONS_URL)).toBe(references)
})

test('a new action is at hand in the components that import its module', async () => {
  const layout = 'src/app/lab/layout.tsx'
  await read(`/_m/assets/${layout}`)
  await read(ACTIONS_URL)
  await using page = await openPage()
  await project.change({
    [ACTIONS]: `${await project.read(ACTIONS)}\nexport const remove = action({ handler: () => 'gone' })`,
  })
  expect(await page.next('update', 'reload')).toEqual({
    type: 'update',
    modules: [{ key: layout, url: `/_m/assets/${layout}?v=1` }],
    styles: [],
  })
  expect(await read(`/_m/assets/${layout}?v=1`)).toContain(`"${ACTIONS_URL}?v=1"`)
  expect(await read(`${ACTIONS_URL}?v=1`)).toContain(actionId('lab/actions.server.ts', 'remove'))
  expect(JSON.parse(await read('/actions'))).toEqual({ 'lab/actions.server.ts': ['remove', 'sign'] })
})

test('actions that no page imports concern the server alone, also when they are new', async () => {
  await using page = await openPage()
  await project.change({
    'src/app/actions.server.ts': `import { action } from 'millrace/server'\nexport const ping = action({ handler: () => 1 })`,
  })
  expect(await page.next('update', 'reload')).toEqual({ type: 'update', modules: [], styles: [] })
  expect(Object.keys(JSON.parse(await read('/actions')))).toEqual(['actions.server.ts', 'lab/actions.server.ts'])
  expect((await fetch(`${dev.url}/_m/assets/src/app/actions.server.ts`)).status).toBe(404)
})

test('an export that can be no action is refused in development too', async () => {
  await using page = await openPage()
  await project.change({ [ACTIONS]: `${await project.read(ACTIONS)}\nexport const limit = 3` })
  const { failure } = await page.next('failure')
  expect(failure.message).toContain(`'limit' of ${ACTIONS} is not an action.`)
})

test('a broken source is shown where it is broken, also to pages that open later, and mending it is enough', async () => {
  await read(PAGE_URL)
  await using page = await openPage()
  await project.change({ [PAGE]: 'export default function LabPage() {\n  return <p>\n}\n' })
  const { failure } = await page.next('failure')
  expect(failure.kind).toBe('build')
  expect(failure.frames[0]?.file).toBe(PAGE)
  expect(failure.excerpt).toContain('return <p>')
  expect(printed.join('\n')).toContain(PAGE)

  await using later = await openPage()
  expect((await later.next('failure')).failure).toEqual(failure)
  const document = await read('/(lab)/lab', { 'Sec-Fetch-Dest': 'document' })
  expect(document).toContain('data-millrace-failed')

  await project.change({ [PAGE]: component('Mended') })
  await page.next('update') // before the build is over
  await page.next('built')
  expect(await read('/(lab)/lab')).toContain('Mended')
  expect(printed.filter((text) => text === 'The build works again.')).toHaveLength(1)
})

test('a document tells of which build it is, and a page whose events begin later hears that there is another', async () => {
  const timing = async (): Promise<string | null> => (await fetch(`${dev.url}/(lab)/lab`)).headers.get('server-timing')
  expect(await timing()).toContain('millrace-build;desc="1 one"')
  await using page = await openPage()
  expect(page.hello).toEqual({ type: 'hello', session: 'one', build: 1 })
  await project.change({ [PAGE]: component('Changed') })
  expect(await page.next('built')).toEqual({ type: 'built', build: 2 })
  await using later = await openPage()
  expect(later.hello).toEqual({ type: 'hello', session: 'one', build: 2 })
  expect(await timing()).toContain('millrace-build;desc="2 one"')
})

test('the wall stands in development too', async () => {
  await using page = await openPage()
  await project.change({ [PAGE]: `import { loader } from '../home.server.ts'\n${component('{loader()}')}` })
  const { failure } = await page.next('failure')
  expect(failure.message).toContain('Server code would reach the browser: src/app/home.server.ts')
  expect((await fetch(`${dev.url}/_m/assets/src/app/home.server.ts`)).status).toBe(404)
})

test('an error on the server is shown with its line in the source, also to the page that it has become', async () => {
  await using page = await openPage()
  await project.change({ [PAGE]: 'export default function LabPage() {\n  throw new Error("no lab today")\n}\n' })
  await page.next('built')
  const document = await read('/(lab)/lab')
  expect(document).toContain('data-millrace-failed')
  const expected = { kind: 'server', message: 'Error: no lab today' }
  const { failure } = await page.next('failure')
  expect(failure).toMatchObject(expected)
  expect(failure.frames[0]).toMatchObject({ file: PAGE, line: 2 })
  expect(failure.excerpt).toContain('> 2 |   throw new Error("no lab today")')
  await using later = await openPage()
  expect((await later.next('failure')).failure).toMatchObject(expected)
})

test('a server that cannot start is shown, and started again when that is mended', async () => {
  const main = await project.read('src/server/main.ts')
  await using page = await openPage()
  await project.change({ 'src/server/main.ts': `throw new Error('no database')` })
  const { failure } = await page.next('failure')
  expect(failure.message).toContain('The server ended before it was listening')
  expect(failure.message).toContain('no database')
  expect((await fetch(`${dev.url}/`)).status).toBe(502)
  await project.change({ 'src/server/main.ts': main })
  await page.next('built')
  expect((await fetch(`${dev.url}/`)).status).toBe(200)
})

test('a stack of a page comes back in terms of the sources', async () => {
  const code = await read(PAGE_URL)
  const line = code.split('\n').findIndex((text) => text.includes('The lab')) + 1
  const body = JSON.stringify({
    message: 'boom',
    stack: `Error: boom\n    at LabPage (${dev.url}${PAGE_URL}:${line}:25)`,
  })
  const explain = (site: string) =>
    fetch(`${dev.url}/_m/dev/stack`, {
      method: 'POST',
      body,
      headers: { 'Sec-Fetch-Site': site, 'Content-Type': 'application/json' },
    })
  const failure: DevFailure = await (await explain('same-origin')).json()
  expect(failure).toMatchObject({ kind: 'browser', message: 'boom' })
  expect(failure.frames[0]).toMatchObject({ file: PAGE, line: 2, own: true })
  expect((await explain('cross-site')).status).toBe(403)
})

test('nobody reads sources under a name that is not this machine', async () => {
  const status = await new Promise((resolve, reject) => {
    request(dev.url + PAGE_URL, { headers: { Host: 'evil.example' } }, (answer) => resolve(answer.resume().statusCode))
      .once('error', reject)
      .end()
  })
  expect(status).toBe(403)
})
