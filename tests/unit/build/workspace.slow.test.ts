import { cp, mkdir, symlink } from 'node:fs/promises'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { readBuildInputs } from '../../../scripts/build/project/build-inputs.ts'
import type { DevWork } from '../../../scripts/dev/compile/dev-parts.ts'
import { startDevServer } from '../../../scripts/dev/dev-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { openDevPage } from './dev-page.ts'
import { makeLinkedProject, writeFiles } from '../../support/linked-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const PACKAGES = resolve(import.meta.dirname, '../../../node_modules')
const BADGE_URL = '/_m/assets/@up/ui/src/index.tsx'

const badge = (text: string): string => `import { useState } from 'react'
import styles from './badge.module.css'
export function Badge() {
  const [text] = useState('${text}')
  return <b className={styles.badge}>{text}</b>
}
`
const PAGE = `import { Badge } from '@acme/ui'
export default function Page() {
  return <main><Badge /></main>
}
`

/** A workspace of npm or pnpm: the application has a link to a package of sources, which has a React of its own. */
async function makeWorkspace() {
  const temp = await makeTempDir('workspace')
  onTestFinished(temp.remove)
  const root = await makeLinkedProject(join(temp.path, 'web'), {
    'package.json': '{ "type": "module", "dependencies": { "react": "*", "@acme/ui": "*" } }',
    'src/app/counter-page.tsx': PAGE,
  })
  const ui = join(temp.path, 'ui')
  await writeFiles(ui, {
    'package.json': '{ "name": "@acme/ui", "type": "module", "exports": "./src/index.tsx" }',
    'src/index.tsx': badge('One'),
    'src/badge.module.css': '.badge { color: rgb(1 2 3) }',
  })
  await cp(join(PACKAGES, 'react'), join(ui, 'node_modules/react'), { recursive: true, dereference: true })
  await mkdir(join(root, 'node_modules/@acme'))
  await symlink(ui, join(root, 'node_modules/@acme/ui'))
  return { ui, options: { root, app: join(root, 'src/app'), out: join(root, 'dist') } }
}

test('a linked package of sources is compiled, watched and refreshed in place, with the project’s React', async () => {
  const { ui, options } = await makeWorkspace()
  const work: DevWork[] = []
  const dev = await startDevServer({
    ...options,
    out: join(options.root, '.dev'),
    port: 0,
    env: { ...process.env, DATA_DIR: join(options.root, 'data') },
    session: 'one',
    print: () => undefined,
    onWork: (started) => void work.push(started),
  })
  onTestFinished(dev.close)
  const read = async (path: string): Promise<string> => (await fetch(dev.url + path)).text()
  expect(await read('/')).toMatch(/<b class="[^"]*badge[^"]*">One<\/b>/)
  const module = await read(BADGE_URL)
  const imported = Array.from(module.matchAll(/from "(\/_m\/assets\/[^"]+)"/g), ([, path = '']) => path)
  expect(imported.filter((path) => path.includes('react'))).not.toEqual([])
  for (const path of imported) expect([path, (await fetch(dev.url + path)).status]).toEqual([path, 200])

  await using page = await openDevPage(dev)
  work.length = 0
  await writeFiles(ui, { 'src/index.tsx': badge('Two') })
  const { modules } = await page.next('update')
  expect(modules).toEqual([{ key: '../ui/src/index.tsx', url: `${BADGE_URL}?v=1` }])
  expect(await read(`${BADGE_URL}?v=1`)).toContain('Two')
  expect(await read('/')).toContain('Two</b>')
  expect(work).toEqual(['server start'])
})

test('a build has a linked package in itself, notices its changes, and keeps its server modules from browsers', async () => {
  const { ui, options } = await makeWorkspace()
  const before = readBuildInputs(options, {}).hash
  await buildApplication(options, {})
  const folder = join(options.out, 'server')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  expect(texts.some((text) => text.includes('One'))).toBe(true)
  expect(texts.filter((text) => text.includes('@acme/ui'))).toEqual([])

  await writeFiles(ui, {
    'src/key.server.ts': `export const key = 'secret'`,
    'src/index.tsx': `import { key } from './key.server.ts'\nexport const Badge = () => <b>{key}</b>`,
  })
  expect(readBuildInputs(options, {}).hash).not.toBe(before)
  await expect(buildApplication(options, {})).rejects.toThrow(
    /\.\.\/ui\/src\/key\.server\.ts is a \*\.server\.\* module/,
  )
})
