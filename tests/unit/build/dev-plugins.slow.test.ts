/** What plugins read beside the files that they load, in development. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DevMessage } from '../../../src/client/dev/dev-messages.ts'
import { startDevServer, type DevServer } from '../../../scripts/dev/dev-server.ts'
import { openDevPage } from './dev-page.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const STYLES = '/_m/assets/styles/src/app/site.pcss.css'

let project: FixtureProject
let dev: DevServer

/** `@colour` is the text of another file; one of them is outside of the folders that are watched. */
function paint(root: string): Plugin {
  return {
    name: 'paint',
    setup({ onLoad }) {
      onLoad({ filter: /\.pcss$/ }, async ({ path }) => {
        const files = [join(root, 'src/app/_near.pcss'), join(root, 'theme/far.txt')]
        const [near, far] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
        const contents = (await readFile(path, 'utf8')).replace('NEAR', near ?? '').replace('FAR', far ?? '')
        return { contents, loader: 'css', watchFiles: files, watchDirs: [join(root, 'src/app/lab')] }
      })
    },
  }
}

const poem: Plugin = {
  name: 'poem',
  setup({ onLoad }) {
    onLoad({ filter: /\.verse$/ }, async ({ path }) => ({ contents: await readFile(path, 'utf8'), loader: 'text' }))
  },
}

beforeEach(async () => {
  project = await copyProject({
    'src/app/home-page.tsx': `import './site.pcss'\nimport verse from './poem.verse'\nexport default () => <p>{verse}</p>\n`,
    'src/app/site.pcss': 'p { color: NEAR; background: FAR }',
    'src/app/poem.verse': 'A first verse',
    'src/app/_near.pcss': 'teal',
    'theme/far.txt': 'white',
  })
  dev = await startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    env: { ...process.env },
    session: 'one',
    print: () => undefined,
    customization: { plugins: { browser: [paint(project.options.root), poem], server: [poem] } },
  })
})

afterEach(async () => {
  await dev.close()
  await project.remove()
})

const read = async (path: string): Promise<string> => (await fetch(dev.url + path)).text()

/** The first thing that an open page is asked to do after a change. */
async function reactionTo(files: Readonly<Record<string, string>>): Promise<DevMessage> {
  await using page = await openDevPage(dev)
  await project.change(files)
  return await page.next('update', 'reload', 'failure')
}

test('a saved partial replaces the stylesheets that were made from it, and no page is reloaded', async () => {
  expect(await read(STYLES)).toContain('color: teal')
  expect(await reactionTo({ 'src/app/_near.pcss': 'navy' })).toEqual({ type: 'update', modules: [], styles: [STYLES] })
  expect(await read(STYLES)).toContain('color: navy')
})

test('a file outside of the sources is watched as soon as a plugin has read it', async () => {
  expect(await reactionTo({ 'theme/far.txt': 'black' })).toEqual({ type: 'reload' })
  expect(await read(STYLES)).toContain('background: black')
})

test('a source in a folder that a stylesheet was made from replaces the stylesheet, too', async () => {
  const page = `export default function LabPage() {\n  return <p>Changed</p>\n}\n`
  expect(await reactionTo({ 'src/app/lab/page.tsx': page })).toMatchObject({ type: 'update', styles: [STYLES] })
  const book = 'src/app/lab/guest-book.server.ts'
  expect(await reactionTo({ [book]: `${await project.read(book)}// Changed\n` })).toMatchObject({
    type: 'update',
    styles: [STYLES],
  })
})

test('a saved file that a plugin makes a module of is in the page that is loaded again', async () => {
  expect(await read('/_m/assets/src/app/home-page.tsx')).toContain('A first verse')
  expect(await reactionTo({ 'src/app/poem.verse': 'A second verse' })).toEqual({ type: 'reload' })
  expect(await read('/_m/assets/src/app/home-page.tsx')).toContain('A second verse')
})
