import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BuildFault } from '../../../scripts/build/build-fault.ts'
import { checkBuildOptions } from '../../../scripts/build/build-options.ts'
import { readBuildInputs } from '../../../scripts/build/project/build-inputs.ts'

const PROJECT_ROOT = join(import.meta.dirname, '../../..')
const app = join(PROJECT_ROOT, 'tests/fixtures/shop-app')
const options = (basePath: string) => ({ root: PROJECT_ROOT, app, out: join(PROJECT_ROOT, 'dist'), basePath })

test.for(['', '/shop', '/a/b', '/v1.2', '/a_b-c', `/${'a'.repeat(63)}`])("'%s' is a base path", (basePath) => {
  expect(() => checkBuildOptions(options(basePath))).not.toThrow()
})

test.for([
  '/',
  'shop',
  '/shop/',
  '//shop',
  '/a//b',
  '/.',
  '/..',
  '/a/../b',
  '/a b',
  '/a+b',
  '/a(b)',
  '/[ab]',
  '/a*',
  '/:shop',
  '/{shop}',
  '/%73hop',
  '/mühle',
  '/shop?a',
  '/shop#a',
  '/shop\n',
  '\\shop',
  'https://shop.example',
  '/_m',
  '/_m/shop',
  '/healthz',
  `/${'a'.repeat(64)}`,
])("'%s' is refused in one line", (basePath) => {
  const check = (): void => checkBuildOptions(options(basePath))
  expect(check).toThrow(BuildFault)
  expect(check).toThrow(/^basePath '[^']*' is refused: .* like \/shop or \/a\/b, .*\.$/s)
})

test('another one is another build', () => {
  const hashes = ['', '/shop', '/store'].map((basePath) => readBuildInputs(options(basePath), {}).hash)
  expect(new Set(hashes).size).toBe(3)
})
