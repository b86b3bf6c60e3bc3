import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { join } from 'node:path'
import { buildApplication, type BuildReport } from '../../../scripts/build/build-application.ts'
import { createCssModules } from '../../../scripts/build/assets/css-modules.ts'
import { groupStyles } from '../../../scripts/build/assets/style-groups.ts'
import { buildFault, copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let project: FixtureProject
let report: BuildReport

beforeAll(async () => {
  project = await copyProject()
  report = await buildApplication(project.options, {})
})

afterAll(() => project.remove())

function stylesheet(path: string | undefined): Promise<string> {
  return project.read(join('dist/public', path?.split('/').at(-1) ?? ''))
}

async function script(folder: string, name: RegExp): Promise<string> {
  const scripts = (await project.list(folder)).filter((file) => file.endsWith('.js'))
  const texts = await Promise.all(scripts.map((file) => project.read(`${folder}/${file}`)))
  return texts.find((text) => name.test(text)) ?? ''
}

test('the class names that both sides render are those of the stylesheet', async () => {
  const [shared, own] = report.manifest.segments['/']?.['page']?.styles ?? []
  const card = /\.(card_\w+_card)\{color:navy\}/.exec(await stylesheet(shared))?.[1] ?? 'no card'
  const page = /\.(home_page_\w+_page)\{/.exec(await stylesheet(own))?.[1] ?? 'no page'
  for (const folder of ['dist/public', 'dist/server']) {
    expect(await script(folder, /card_\w+_card/)).toContain(card)
    expect(await script(folder, /home_page_\w+_page/)).toContain(page)
  }
})

test('composed classes come with all that they compose themselves, and their rules come first', async () => {
  const modules = createCssModules(project.options.root)
  const { names, composed } = await modules.compile(join(project.options.app, 'card.module.css'))
  expect(names['card']).toMatch(/^frame_\w+_line frame_\w+_framed card_\w+_card$/)
  expect(composed).toEqual([join(project.options.app, 'frame.module.css')])
  const css = await stylesheet(report.manifest.segments['/']?.['page']?.styles[0])
  expect(css.indexOf('frame_')).toBeLessThan(css.indexOf('card_'))
})

test('class names do not depend on where the project lies or on what else is built', async () => {
  await using elsewhere = await copyProject({}, 'a-folder-with-another-name')
  const [here, there] = await Promise.all(
    [project, elsewhere].map(({ options }) =>
      createCssModules(options.root).compile(join(options.app, 'card.module.css')),
    ),
  )
  expect(there?.names).toEqual(here?.names)
  expect(there?.css).toBe(here?.css)
})

test('what two modules share is one file that both name, the document has its own', () => {
  const { segments, entryStyles } = report.manifest
  const [shared] = segments['/']?.['page']?.styles ?? []
  expect(segments['/(lab)/lab']?.['layout']?.styles).toEqual([shared])
  expect(segments['/(lab)/lab']?.['page']?.styles).toEqual([])
  expect(entryStyles).toHaveLength(1)
})

test('an image has one URL in scripts and stylesheets of both sides, and is there', async () => {
  const [logo] = (await project.list('dist/public')).filter((file) => /^logo-\w+\.svg$/.test(file))
  expect(await stylesheet(report.manifest.entryStyles[0])).toContain(`url(/_m/assets/${logo})`)
  for (const folder of ['dist/public', 'dist/server']) {
    expect(await script(folder, /logo-/)).toContain(`"/_m/assets/${logo}"`)
  }
})

test('a class that the composed file lacks stops the build and names the file', async () => {
  const fault = await buildFault({
    'src/app/frame.module.css': '.other { color: red }',
  })
  expect(fault).toContain('framed')
  expect(fault).toContain('src/app/card.module.css:2:')
})

test('styles of a component that is loaded later still come with the page that loads it', () => {
  const inputs = {
    'client.tsx': { bytes: 0, imports: [{ path: 'page.tsx', kind: 'dynamic-import' }] },
    'page.tsx': {
      bytes: 0,
      imports: [
        { path: 'css-file:page.css', kind: 'import-statement' },
        { path: 'chart.tsx', kind: 'dynamic-import' },
      ],
    },
    'chart.tsx': { bytes: 0, imports: [{ path: 'css-file:chart.css', kind: 'import-statement' }] },
    'css-file:page.css': { bytes: 0, imports: [] },
    'css-file:chart.css': { bytes: 0, imports: [] },
  } as const
  const { entry, modules } = groupStyles({ inputs: structuredClone(inputs) as never, outputs: {} }, 'client.tsx', [
    'page.tsx',
  ])
  expect(entry).toEqual([])
  expect(modules.get('page.tsx')?.flatMap(({ files }) => files)).toEqual(['page.css', 'chart.css'])
})

test.for(['base.css', 'card.module.css'])('what browsers will not understand in %s is said once', async (file) => {
  await using other = await copyProject()
  const path = `src/app/${file}`
  await other.change({ [path]: `${await other.read(path)}\n.odd } {\n` })
  const { warnings } = await buildApplication(other.options, {})
  expect(warnings.split('Unexpected "}"')).toHaveLength(2)
  expect(warnings).toContain(file)
  expect(report.warnings).toBe('')
})
