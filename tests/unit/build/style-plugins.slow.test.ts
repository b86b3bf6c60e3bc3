/** Stylesheets that a plugin of the project makes CSS of, with local names and without. */
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'
import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { describeFault } from '../../../scripts/build/esbuild-messages.ts'
import { copyProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PAGE = `import styles from './tile.module.pcss'
import './site.pcss'
export default () => <p className={styles['tile']}>Tile</p>
`
const FILES = {
  'src/app/home-page.tsx': PAGE,
  'src/app/site.pcss': 'p { color: WATER }',
  'src/app/tile.module.pcss': '.tile { border-color: WATER }',
}

/** Replaces a word, without a namespace in its filter, as plugins are commonly written. */
const paint: Plugin = {
  name: 'paint',
  setup({ onLoad }) {
    onLoad({ filter: /\.pcss$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const column = text.indexOf('MUD')
      if (column < 0) return { contents: text.replaceAll('WATER', 'teal'), loader: 'css' }
      return {
        errors: [
          { text: 'MUD is no colour', location: { file: 'src/app/colours.txt', line: 7, column, lineText: text } },
        ],
      }
    })
  },
}

const customization = { plugins: { browser: [paint] } }

test('a plugin makes CSS of both, and the local names are equal on both sides', async () => {
  await using project = await copyProject(FILES)
  const { manifest } = await buildApplication({ ...project.options, customization }, {})
  const [style] = manifest.segments['/']?.['page']?.styles ?? []
  const css = await project.read(`dist/public/${style?.split('/').at(-1)}`)
  expect(css).toContain('p{color:teal}')
  const [, name = 'no such rule'] = /\.(tile_\w+_tile)\{border-color:teal\}/.exec(css) ?? []
  for (const folder of ['dist/public', 'dist/server']) {
    const scripts = (await project.list(folder)).filter((file) => file.endsWith('.js'))
    const texts = await Promise.all(scripts.map((file) => project.read(`${folder}/${file}`)))
    expect(texts.some((text) => text.includes(name))).toBe(true)
  }
  const stylesheets = (await project.list('dist/public')).filter((file) => file.endsWith('.css'))
  expect(stylesheets.filter((file) => !JSON.stringify(manifest.segments).includes(file))).toEqual([
    expect.stringMatching(/^document-/),
  ])
})

test('a fault has the place that the plugin names, and no import that nobody has written', async () => {
  await using project = await copyProject({ ...FILES, 'src/app/tile.module.pcss': '.tile { color: MUD }' })
  const built = buildApplication({ ...project.options, customization }, {})
  const fault = (await built.then(() => 'built', describeFault)) ?? ''
  expect(fault).toMatch(/MUD is no colour \[plugin paint\]\n\n {4}src\/app\/colours\.txt:7:15:/)
  expect(fault).not.toContain('stdin')
})
