/** Packages in development: as a production build has them, on both sides. */
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startDevServer } from '../../../scripts/dev/dev-server.ts'
import { makeLinkedProject } from '../../support/linked-project.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { LOOSE, packFiles } from './fake-packages.ts'

vi.setConfig({ testTimeout: 120_000 })

const NAMES = ['loose', 'endless', 'styled', 'pictured', 'mapped'] as const

const PAGE = `import { lazy } from 'react'
import { ClientOnly } from 'millrace'
import { start } from 'loose'
import plugin, { named } from 'loose/plugin'
import { part } from 'endless'
import { styled } from 'styled'
import { picture } from 'pictured'
const Lazy = lazy(async () => {
  const { width } = await import('mapped')
  return { default: () => <b>{width}</b> }
})
export default function Page({ data }: { data: readonly string[] }) {
  return <main>{[...data, start(), plugin, named, part, styled, picture].join(' ')}<ClientOnly>{() => <Lazy />}</ClientOnly></main>
}
`

const LOADER = `import { start } from 'loose'
import deep from 'loose/deep'
export const loader = async () => [deep(), start(), (await import('loose')).start()]
`

test('packages of every format work in loaders, pages and modules for browsers, with their styles', async () => {
  const temp = await makeTempDir('dev-packages')
  onTestFinished(temp.remove)
  const root = await makeLinkedProject(join(temp.path, 'web'), {
    ...LOOSE,
    ...packFiles(
      'endless',
      { type: 'module', main: 'index.js' },
      { 'index.js': `export { part } from './part'`, 'part.js': `export const part = 'part'` },
    ),
    ...packFiles(
      'styled',
      { main: 'index.js' },
      { 'index.js': `require('./style.css'); exports.styled = 'styled'`, 'style.css': '.styled { color: teal }' },
    ),
    ...packFiles(
      'pictured',
      { type: 'module', main: 'index.js' },
      { 'index.js': `export { default as picture } from './icon.svg'`, 'icon.svg': '<svg/>' },
    ),
    ...packFiles(
      'mapped',
      { main: 'index.js' },
      { 'index.js': `module.exports = require('./lib.js')`, 'lib.js': `exports.width = window.innerWidth` },
    ),
    'package.json': JSON.stringify({
      type: 'module',
      dependencies: Object.fromEntries(['react', ...NAMES].map((name) => [name, '*'])),
    }),
    'src/app/counter-page.tsx': PAGE,
    'src/app/loader.server.ts': LOADER,
  })
  const dev = await startDevServer({
    root,
    app: join(root, 'src/app'),
    out: join(root, '.dev'),
    port: 0,
    env: { ...process.env, DATA_DIR: join(root, 'data') },
    session: 'one',
    print: () => undefined,
  })
  onTestFinished(dev.close)
  const read = async (path: string): Promise<string> => (await fetch(dev.url + path)).text()

  const html = await read('/')
  const [, icon = ''] = /<main>deep started started started plugin named part styled (\/[^\s<]+)/.exec(html) ?? []
  expect(await read(icon)).toBe('<svg/>')
  const styles = Array.from(html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g), ([, path = '']) => path)
  expect((await Promise.all(styles.map(read))).join('')).toContain('.styled')

  const page = await read('/_m/assets/src/app/counter-page.tsx')
  const imported = Array.from(page.matchAll(/import (.+) from "([^"]+vendor[^"]+)"/g))
  const [, mapped = ''] = /import\("([^"]+vendor[^"]+)"\)/.exec(page) ?? []
  expect(await read(mapped)).toMatch(/export \{[^}]*\bwidth\b/)
  const names = imported.flatMap(([, clause = '']) => /\{(.*)\}/.exec(clause)?.[1]?.split(',') ?? [])
  expect(names.map((name) => name.trim())).toEqual(expect.arrayContaining(['start', 'named', 'part', 'styled']))
  for (const [, clause = '', path = ''] of imported) {
    const text = await read(path)
    for (const name of /\{(.*)\}/.exec(clause)?.[1]?.split(',') ?? []) {
      const [exported = ''] = name.trim().split(' as ')
      expect(text).toMatch(new RegExp(`export \\{[^}]*\\b${exported}\\b`))
    }
  }
})
