import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { copyProject } from './fixture-project.ts'

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

test('a package is left to Node, unless it is built on React, directly or not', async () => {
  await using project = await copyProject({
    ...pack('plain', {}, `export const plain = 'code of plain'`),
    ...pack('ui-kit', { peerDependencies: { react: '*' } }, `export const kit = 'code of ui-kit'`),
    ...pack('on-ui-kit', { dependencies: { 'ui-kit': '*' } }, `export const onKit = 'code of on-ui-kit'`),
    'src/app/home.server.ts': `
      import { plain } from 'plain'
      import { kit } from 'ui-kit'
      import { onKit } from 'on-ui-kit'
      export const loader = () => [plain, kit, onKit]`,
  })
  await buildApplication(project.options, {})
  const scripts = (await project.list('dist/server')).filter((file) => file.endsWith('.js'))
  const texts = await Promise.all(scripts.map((file) => readFile(join(project.options.out, 'server', file), 'utf8')))
  const code = texts.join('\n')
  expect(code).toContain('from "plain"')
  expect(code).not.toContain('code of plain')
  expect(code).toContain('code of ui-kit')
  expect(code).toContain('code of on-ui-kit')
  expect(code).not.toMatch(/(?:from|require\() ?"react/)
})
