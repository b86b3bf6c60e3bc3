import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { LOOSE, packFiles } from './fake-packages.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

const FIXTURE_MANIFEST = resolve(import.meta.dirname, '../../fixtures/build-project/package.json')

vi.setConfig({ testTimeout: 120_000 })

/** An installed package of ES modules. */
function pack(name: string, manifest: object, code: string): Record<string, string> {
  return packFiles(name, { type: 'module', main: 'index.js', ...manifest }, { 'index.js': code })
}

/** An `app.ts` that prints an expression when it is evaluated. */
function printing(imports: string, expression: string): Record<string, string> {
  return {
    'src/app/app.ts': `${imports}
      import { defineApp } from 'millrace/server'
      import { Document } from './document.tsx'
      import { routes } from './routes.ts'
      console.log(JSON.stringify(${expression}))
      export default defineApp({ routes, document: Document })`,
  }
}

async function serverCode(project: FixtureProject): Promise<string> {
  const scripts = (await project.list('dist/server')).filter((file) => file.endsWith('.js'))
  return (await Promise.all(scripts.map((file) => project.read(`dist/server/${file}`)))).join('\n')
}

/** The fixture's package.json with other dependencies. */
async function manifest(more: object): Promise<string> {
  return JSON.stringify({ ...(JSON.parse(await readFile(FIXTURE_MANIFEST, 'utf8')) as object), ...more })
}

/** The first line that a built server prints. */
async function firstLine({ options }: FixtureProject): Promise<unknown> {
  const server = spawn(process.execPath, [join(options.out, 'server/main.js')], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(createInterface({ input: server.stdout }), 'line')
    return line
  } finally {
    server.kill('SIGKILL')
    await once(server, 'close')
  }
}

test('the built server imports packages of either format from where they are installed', async () => {
  await using project = await copyProject({
    'package.json': await manifest({ dependencies: { pino: '*', jose: '*' } }),
    'src/app/app.ts': `import { pino } from 'pino'
      import { EncryptJWT } from 'jose'
      import { defineApp } from 'millrace/server'
      import { Document } from './document.tsx'
      import { routes } from './routes.ts'
      console.log('packages', typeof pino, typeof EncryptJWT)
      export default defineApp({ routes, document: Document })`,
  })
  await buildApplication(project.options, {})
  const code = await serverCode(project)
  expect(code).toContain('__require("pino")')
  expect(code).toContain('from"jose"')
  expect(await firstLine(project)).toBe('packages function function')
})

test('a dependency of the project is left to Node, unless it is built on React, directly or not', async () => {
  await using project = await copyProject({
    'package.json': await manifest({
      dependencies: { plain: '*', 'ui-kit': '*', 'on-ui-kit': '*' },
      devDependencies: { built: '*' },
    }),
    ...pack('built', {}, `export const built = 'code of built'`),
    ...pack('plain', {}, `export const plain = 'code of plain'`),
    ...pack('ui-kit', { peerDependencies: { react: '*' } }, `export const kit = 'code of ui-kit'`),
    ...pack('on-ui-kit', { dependencies: { 'ui-kit': '*' } }, `export const onKit = 'code of on-ui-kit'`),
    'src/app/home.server.ts': `
      import { plain } from 'plain'
      import { built } from 'built'
      import { kit } from 'ui-kit'
      import { onKit } from 'on-ui-kit'
      export const loader = () => [plain, built, kit, onKit]`,
  })
  await buildApplication(project.options, {})
  const code = await serverCode(project)
  expect(code).toContain('from"plain"')
  expect(code).not.toContain('code of plain')
  expect(code).toContain('code of built')
  expect(code).toContain('code of ui-kit')
  expect(code).toContain('code of on-ui-kit')
  expect(code).not.toMatch(/(?:from|require\() ?"react/)
})

const TAG = {
  'node_modules/tag/package.json': JSON.stringify({ name: 'tag', peerDependencies: { react: '*' } }),
  'node_modules/tag/index.js': `Object.defineProperty(exports, '__esModule', { value: true })
    exports.named = require('react').version && 'named'
    exports.default = 'the default of tag'`,
}

test('a default import of a CommonJS package is its default, as TypeScript types it', async () => {
  await using project = await copyProject({
    ...TAG,
    'src/app/home.server.ts': `
      import tag, { named } from 'tag'
      export const loader = () => console.log('tag', tag, named)`,
    'src/app/app.ts': `
      import { defineApp } from 'millrace/server'
      import { Document } from './document.tsx'
      import { loader } from './home.server.ts'
      import { routes } from './routes.ts'
      loader()
      export default defineApp({ routes, document: Document })`,
  })
  await buildApplication(project.options, {})
  expect(await firstLine(project)).toBe('tag the default of tag named')
})

test('a runtime that has a React beside it, as where it is a link, gets that of the application', async () => {
  await using project = await copyProject({
    'src/server/node_modules/react/package.json': JSON.stringify({ name: 'react', main: 'index.js' }),
    'src/server/node_modules/react/index.js': `exports.createElement = () => 'another React'`,
  })
  await buildApplication(project.options, {})
  expect(await serverCode(project)).not.toContain('another React')
})

test.for(['dependencies', 'devDependencies'] as const)(
  'CommonJS in %s has its names, its default and its files as in a bundle',
  async (list) => {
    await using project = await copyProject({
      ...LOOSE,
      'package.json': await manifest({ [list]: { loose: '*' } }),
      ...printing(
        `import whole, { start } from 'loose'
         import * as all from 'loose'
         import deep from 'loose/deep'
         import plugin, { named } from 'loose/plugin'
         const lazy = await import('loose')`,
        `[start(), whole.start(), all.start(), deep(), plugin, named, lazy.start()]`,
      ),
    })
    const { warnings } = await buildApplication(project.options, {})
    expect(warnings).toBe('')
    const values = ['started', 'started', 'started', 'deep', 'plugin', 'named', 'started']
    expect(await firstLine(project)).toBe(JSON.stringify(values))
    const code = await serverCode(project)
    expect(code.includes('__require("loose/deep")')).toBe(list === 'dependencies')
  },
)

test('a package has one copy with a host, whatever conditions its manifest has', async () => {
  const thing = (kind: string): string => `class Thing {}; ${kind} { Thing }`
  await using project = await copyProject({
    ...packFiles(
      'dual',
      { exports: { import: './index.mjs', require: './index.cjs' } },
      { 'index.mjs': thing('export'), 'index.cjs': thing('module.exports =') },
    ),
    ...packFiles('old', { exports: { require: './index.cjs' } }, { 'index.cjs': thing('module.exports =') }),
    ...packFiles(
      'odd',
      { exports: { import: './a.cjs', require: './b.cjs' } },
      { 'a.cjs': thing('module.exports ='), 'b.cjs': thing('module.exports =') },
    ),
    'package.json': await manifest({ dependencies: { dual: '*', old: '*', odd: '*' } }),
    ...printing(
      `import { Thing as Dual } from 'dual'
       import { Thing as Old } from 'old'
       import { Thing as Odd } from 'odd'
       import { createRequire } from 'node:module'
       const host = (name: string) => import(name)
       const load = createRequire(import.meta.url)`,
      `[(await host('dual')).Thing === Dual, load('old').Thing === Old, (await host('odd')).default.Thing === Odd]`,
    ),
  })
  await buildApplication(project.options, {})
  expect(await firstLine(project)).toBe('[true,true,true]')
})

test('what Node cannot load becomes part of the bundle, on both sides', async () => {
  const style = { 'style.css': '.from-a-package { color: teal }' }
  await using project = await copyProject({
    ...LOOSE,
    ...packFiles(
      'endless',
      { type: 'module', main: 'index.js' },
      { 'index.js': `export { part } from './part'`, 'part.js': `export const part = 'part'`, LICENSE: 'free for all' },
    ),
    ...packFiles(
      'named',
      { type: 'module', main: 'index.js' },
      { 'index.js': `import { start } from 'loose'; export const named = start()` },
    ),
    ...packFiles(
      'styled',
      { type: 'module', main: 'index.js' },
      {
        'index.js': `import './style.css'; export const styled = 'styled'`,
        ...style,
        'licenses/LICENSE-part': 'free, in part',
        'licenses/index.js': 'code of licences',
      },
    ),
    ...packFiles(
      'styled-old',
      { main: 'index.js' },
      { 'index.js': `require('./old.css'); exports.old = 'old'`, 'old.css': '.from-an-old-package { color: red }' },
    ),
    ...packFiles(
      'on-styled',
      { type: 'module', main: 'index.js' },
      { 'index.js': `export { styled as onStyled } from 'styled'` },
    ),
    ...packFiles(
      'written',
      { main: 'index.jsx', license: 'MIT' },
      { 'index.jsx': `export const written = () => <b>written</b>` },
    ),
    'package.json': await manifest({
      dependencies: {
        loose: '*',
        endless: '*',
        named: '*',
        styled: '*',
        'styled-old': '*',
        'on-styled': '*',
        written: '*',
      },
    }),
    ...printing(
      `import { part } from 'endless'
       import { named } from 'named'
       import { styled } from 'styled'
       import { old } from 'styled-old'
       import { onStyled } from 'on-styled'
       import { written } from 'written'`,
      `[part, named, styled, old, onStyled, typeof written]`,
    ),
    'src/app/home-page.tsx': `
      import { styled } from 'styled'
      import { old } from 'styled-old'
      export default () => <p>{styled}{old}</p>`,
  })
  const { manifest: assets, warnings } = await buildApplication(project.options, {})
  expect(warnings).toBe('')
  expect(await firstLine(project)).toBe('["part","started","styled","old","styled","function"]')
  const licences = await project.read('dist/LICENSES.txt')
  expect(licences).toContain('endless@\n\nfree for all')
  expect(licences).toContain('written@\n\nLicence: MIT')
  expect(licences).toContain('styled@\n\nfree, in part')
  expect(licences).not.toContain('code of licences')
  expect(licences).toMatch(/^react@\d/m)
  const styles = assets.segments['/']?.['page']?.styles ?? []
  const texts = await Promise.all(styles.map((path) => project.read(`dist/public/${path.split('/').at(-1)}`)))
  expect(texts.join('')).toContain('.from-a-package')
  expect(texts.join('')).toContain('.from-an-old-package')
})

test('a name without an ending may be a stylesheet, and one with an ending a script', async () => {
  await using project = await copyProject({
    ...packFiles(
      'looks',
      {
        exports: { './css': './looks.css', './theme.css': './theme.js', './icon.svg': './icon.js' },
        sideEffects: false,
      },
      {
        'looks.css': '.looks { color: teal }',
        'theme.js': `exports.theme = 'theme'`,
        'icon.js': `exports.icon = 'icon'`,
      },
    ),
    'src/app/home-page.tsx': `
      import 'looks/css'
      import { theme } from 'looks/theme.css'
      import { icon } from 'looks/icon.svg'
      export default () => <p>{theme}{icon}</p>`,
    ...printing(`import { theme } from 'looks/theme.css'; import { icon } from 'looks/icon.svg'`, `[theme, icon]`),
  })
  const { manifest: assets, warnings } = await buildApplication(project.options, {})
  expect(warnings).toBe('')
  expect(await firstLine(project)).toBe('["theme","icon"]')
  const [style] = assets.segments['/']?.['page']?.styles ?? []
  expect(await project.read(`dist/public/${style?.split('/').at(-1)}`)).toContain('.looks')
})

describe('what must not be bundled', () => {
  const reader = `const { readFileSync } = require('node:fs')
    exports.text = readFileSync(require('node:path').join(__dirname, 'data.txt'), 'utf8')`

  test.for([
    ['has files of its own', 'reader', { 'index.js': reader, 'data.txt': 'its data' }, 'its data'],
    ['is patched by OpenTelemetry', 'ioredis', { 'index.js': `exports.text = __filename` }, 'node_modules/ioredis/'],
    [
      'has an add-on',
      'addon',
      {
        'index.js': `try { require('./build/addon.node') } catch (error) { exports.text = error.code }`,
        'build/addon.node': 'no library',
      },
      'ERR_DLOPEN_FAILED',
    ],
  ] as const)('%s: it stays outside, and the build says where to list it', async ([, name, files, text]) => {
    await using project = await copyProject({
      ...packFiles(name, { main: 'index.js' }, files),
      'package.json': await manifest({ devDependencies: { [name]: '*' } }),
      ...printing(`import { text } from '${name}'`, `[text]`),
    })
    const { warnings } = await buildApplication(project.options, {})
    expect(warnings).toContain(`${name} cannot be part of the server's bundle`)
    expect(warnings).toContain('"dependencies" of package.json')
    expect(await serverCode(project)).toContain(`__require("${name}")`)
    expect(await firstLine(project)).toContain(text)
  })

  test('is found through the packages that need it, where nothing else can find it', async () => {
    await using project = await copyProject({
      ...packFiles(
        'kit',
        { main: 'index.js', peerDependencies: { react: '*' }, dependencies: { inner: '*' } },
        {
          'index.js': `exports.text = require('inner').text`,
          'node_modules/inner/package.json': JSON.stringify({ name: 'inner', main: 'lib/index.js' }),
          'node_modules/inner/lib/index.js': reader,
          'node_modules/inner/lib/data.txt': 'data of inner',
        },
      ),
      'package.json': await manifest({ dependencies: { kit: '*' } }),
      ...printing(`import { text } from 'kit'`, `[text]`),
    })
    const { warnings } = await buildApplication(project.options, {})
    expect(warnings).toBe('')
    expect(await firstLine(project)).toBe('["data of inner"]')
  })
})

test('an alias leads to the package that it names', async () => {
  await using project = await copyProject({
    ...LOOSE,
    'package.json': await manifest({ dependencies: { loose: '*' } }),
    ...printing(`import { start } from 'tight'; import deep from 'tight/deep'`, `[start(), deep()]`),
  })
  const customization = { alias: { tight: 'loose' } }
  await buildApplication({ ...project.options, customization }, {})
  expect(await firstLine(project)).toBe('["started","deep"]')
})
