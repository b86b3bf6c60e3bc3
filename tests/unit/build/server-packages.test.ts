import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

const FIXTURE_MANIFEST = resolve(import.meta.dirname, '../../fixtures/build-project/package.json')

vi.setConfig({ testTimeout: 60_000 })

/** A package in the application's own folder. */
function pack(name: string, manifest: object, code: string): Record<string, string> {
  return {
    [`src/app/node_modules/${name}/package.json`]: JSON.stringify({
      name,
      type: 'module',
      main: 'index.js',
      ...manifest,
    }),
    [`src/app/node_modules/${name}/index.js`]: code,
  }
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
  const scripts = (await project.list('dist/server')).filter((file) => file.endsWith('.js'))
  const code = (await Promise.all(scripts.map((file) => project.read(`dist/server/${file}`)))).join('\n')
  expect(code).toContain('from"pino"')
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
  const scripts = (await project.list('dist/server')).filter((file) => file.endsWith('.js'))
  const texts = await Promise.all(scripts.map((file) => readFile(join(project.options.out, 'server', file), 'utf8')))
  const code = texts.join('\n')
  expect(code).toContain('from"plain"')
  expect(code).not.toContain('code of plain')
  expect(code).toContain('code of built')
  expect(code).toContain('code of ui-kit')
  expect(code).toContain('code of on-ui-kit')
  expect(code).not.toMatch(/(?:from|require\() ?"react/)
})

const TAG = {
  'src/app/node_modules/tag/package.json': JSON.stringify({ name: 'tag', peerDependencies: { react: '*' } }),
  'src/app/node_modules/tag/index.js': `Object.defineProperty(exports, '__esModule', { value: true })
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
  const scripts = (await project.list('dist/server')).filter((file) => file.endsWith('.js'))
  const texts = await Promise.all(scripts.map((file) => readFile(join(project.options.out, 'server', file), 'utf8')))
  expect(texts.join('\n')).not.toContain('another React')
})
