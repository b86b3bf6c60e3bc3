import { expect, test } from 'vitest'
import { sizeTable } from '../../../scripts/build/output/size-table.ts'

test('sizes stand in aligned columns, the largest first, with a total; empty sections are left out', () => {
  const table = sizeTable([
    {
      title: 'Scripts',
      files: [
        { name: 'small.js', raw: 90, gzip: 80, brotli: 70 },
        { name: 'a-larger-one.js', raw: 123_456, gzip: 45_678, brotli: 34_567, note: 'src/app/page.tsx' },
      ],
    },
    { title: 'Assets', files: [] },
  ])
  expect(table.split('\n')).toEqual([
    'Scripts                  raw      gzip    brotli',
    '  a-larger-one.js  123.46 kB  45.68 kB  34.57 kB  src/app/page.tsx',
    '  small.js           0.09 kB   0.08 kB   0.07 kB',
    '  2 files          123.55 kB  45.76 kB  34.64 kB  in total',
  ])
})
