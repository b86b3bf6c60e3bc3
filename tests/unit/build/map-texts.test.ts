import { expect, test } from 'vitest'
import { withoutPackageTexts } from '../../../scripts/build/output/map-texts.ts'

test('a map has the texts of the project and of its workspace, and the positions of all files', () => {
  const map = {
    version: 3,
    sources: [
      '../../src/page.tsx',
      '../../node_modules/ui/index.js',
      '../../../shared/node_modules_of/a.ts',
      'node_modules/b.js',
    ],
    sourcesContent: ['page', 'package', 'shared', 'other package'],
    mappings: 'AAAA;ACAA;ACAA;ACAA',
    names: ['a'],
  }
  const lean = JSON.parse(new TextDecoder().decode(withoutPackageTexts(new TextEncoder().encode(JSON.stringify(map)))))
  expect(lean).toEqual({ ...map, sourcesContent: ['page', null, 'shared', null] })
})
