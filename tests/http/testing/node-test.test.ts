import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROJECT = resolve(import.meta.dirname, '../../..')

test("an application's own tests run in Node's test runner, without a build", async () => {
  const register = ['--conditions=millrace-source', '--import', 'millrace/testing/register']
  const args = [...register, '--test', 'tests/fixtures/node-test/app.test.ts']
  // Node's runner refuses to run inside of another.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT, env })
  expect(stdout).toMatch(/pass 2$/m)
  expect(stdout).toMatch(/fail 0$/m)
})

/** By path: an application's module, and a package for bundlers alone. */
const FILES = {
  'package.json': '{"type":"module"}',
  'main.tsx': `
    import 'painted/painted.css'
    import { Painted, mark } from 'painted'
    import old from 'painted/old.cjs'
    import all, { startCase, delete as remove } from 'former'
    import utc, { zone } from 'former/plugin/utc'
    const painted = <Painted />
    const former = [startCase(), remove(), all.startCase === startCase, utc, zone]
    console.log(JSON.stringify([painted.type.name, mark.endsWith('/mark.svg'), old, ...former]))`,
  'node_modules/former/package.json': '{"main":"index.js"}',
  'node_modules/former/index.js':
    'const made = { startCase: () => "Case", delete: () => "gone" }; Object.assign(exports, made, { "not-a-name": 1 })',
  'node_modules/former/plugin/utc.js':
    'Object.defineProperty(exports, "__esModule", { value: true }); for (const [k, v] of [["default", "utc"], ["zone", "Z"]]) exports[k] = v',
  'node_modules/painted/package.json': '{"type":"module","exports":{".":"./index.js","./*":"./*"}}',
  'node_modules/painted/index.js': `import './painted.css'; export * from './part'; export * from './parts'`,
  'node_modules/painted/part.jsx': 'export const Painted = () => <b>painted</b>',
  'node_modules/painted/parts/index.js': `export { default as mark } from '../mark.svg'`,
  'node_modules/painted/old.cjs': `require('./painted.css'); module.exports = 'old'`,
  'node_modules/painted/painted.css': 'b { color: red }',
  'node_modules/painted/mark.svg': '<svg/>',
}

test('a package with stylesheets, images, JSX and paths without endings is loaded, as the build does', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'millrace-register-'))
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true })
    writeFileSync(join(folder.path, file), text)
  }
  symlinkSync(join(PROJECT, 'node_modules/react'), join(folder.path, 'node_modules/react'))
  const register = join(PROJECT, 'src/testing/register.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', register, 'main.tsx'], {
    cwd: folder.path,
  })
  expect(JSON.parse(stdout)).toEqual(['Painted', true, 'old', 'Case', 'gone', true, 'utc', 'Z'])
})
