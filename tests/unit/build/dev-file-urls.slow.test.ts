/** Files that modules name by `import.meta.url`, in development. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { join } from 'node:path'
import type { DevMessage } from '../../../src/client/dev/dev-messages.ts'
import { startDevServer, type DevServer } from '../../../scripts/dev/dev-server.ts'
import { openDevPage } from './dev-page.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PAGE = '/_m/assets/src/app/home-page.tsx'

let project: FixtureProject
let dev: DevServer

beforeEach(async () => {
  project = await copyProject({
    'src/app/home-page.tsx': `import { own } from './own.ts'
export const start = () => new Worker(new URL('./work.ts', import.meta.url), { type: 'module' })
export default () => <p>{new URL('./notes.txt', import.meta.url).href} {own}</p>
`,
    'src/app/work.ts': `import { word } from './word.ts'\npostMessage(word)\n`,
    'src/app/word.ts': `export const word = 'first word'\n`,
    'src/app/own.ts': `import { word } from './word.ts'\nexport const own = word\n`,
    'src/app/notes.txt': 'first notes',
    'src/app/home.server.ts': `import { readFileSync } from 'node:fs'
export const loader = () => readFileSync(new URL('./notes.txt', import.meta.url), 'utf8')
`,
  })
  dev = await startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    env: { ...process.env },
    session: 'one',
    print: () => undefined,
  })
})

afterEach(async () => {
  await dev.close()
  await project.remove()
})

const read = async (path: string): Promise<string> => (await fetch(dev.url + path)).text()

/** Contents of the file that the page's module names, by the beginning of its name. */
async function named(name: string): Promise<string> {
  const url = new RegExp(`"(/_m/assets/${name}-[^"]+)"`).exec(await read(PAGE))?.[1]
  return url === undefined ? 'no URL' : read(url)
}

/** The first thing that an open page is asked to do after a change. */
async function reactionTo(files: Readonly<Record<string, string>>): Promise<DevMessage> {
  await using page = await openDevPage(dev)
  await project.change(files)
  return await page.next('update', 'reload', 'failure')
}

test('a page and its module have one URL, and what is saved is at the next one', async () => {
  expect(await named('work')).toContain('first word')
  expect(await named('notes')).toBe('first notes')
  const [, shown = 'none'] = /<p>([^<\s]+)/.exec(await read('/')) ?? []
  expect(await read(shown)).toBe('first notes')

  expect(await reactionTo({ 'src/app/notes.txt': 'second notes' })).toEqual({ type: 'reload' })
  expect(await named('notes')).toBe('second notes')
})

test('a saved part of a worker reaches the worker, also where a page has it, too', async () => {
  expect(await named('work')).toContain('first word')
  expect(await reactionTo({ 'src/app/work.ts': `import { word } from './word.ts'\npostMessage([word])\n` })).toEqual({
    type: 'reload',
  })
  expect(await named('work')).toContain('postMessage([word])')
  expect(await reactionTo({ 'src/app/word.ts': `export const word = 'second word'\n` })).toEqual({ type: 'reload' })
  expect(await named('work')).toContain('second word')
})

test('a fault of a worker is shown with its place, and is gone when it is mended', async () => {
  const failure = await reactionTo({ 'src/app/work.ts': `import './none.ts'\n` })
  expect(JSON.stringify(failure)).toMatch(/none\.ts.*src\/app\/work\.ts/)
  await using page = await openDevPage(dev)
  await project.change({ 'src/app/work.ts': `postMessage('third word')\n` })
  await page.next('reload')
  expect(await named('work')).toContain('third word')
})
