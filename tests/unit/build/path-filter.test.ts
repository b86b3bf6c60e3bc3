import { expect, test } from 'vitest'
import { literally, OWN_SCRIPT } from '../../../scripts/build/path-filter.ts'

test.for([
  ['/shop/src/app/page.tsx', true],
  ['/shop/node_modules.ts', true],
  ['/shop/node_modules_of_old/page.mjs', true],
  ['/shop/my-node_modules/page.jsx', true],
  ['/shop/node_module/page.cts', true],
  ['C:\\shop\\src\\page.ts', true],
  ['/shop/src/styles.css', false],
  ['/shop/node_modules/react/index.js', false],
  ['/shop/packages/ui/node_modules/react/index.js', false],
  ['C:\\shop\\node_modules\\react\\index.js', false],
] as const)('%s is a script of the project: %s', ([path, isOwn]) => {
  expect(OWN_SCRIPT.test(path)).toBe(isOwn)
})

test('a path with signs of patterns matches itself alone', () => {
  const path = '/srv/shop (1)/[id]+$x.{2}/a-b'
  const filter = new RegExp(`^${literally(path)}$`)
  expect([filter.test(path), filter.test(path.replace('.', 'x'))]).toEqual([true, false])
})
