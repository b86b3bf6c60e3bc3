import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packedReadme } from '../../../scripts/package/packed-readme.ts'

const ROOT = join(import.meta.dirname, '../../..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const OTHERS = readFileSync(join(ROOT, 'scripts/package/packed-readme.md'), 'utf8')
const DOCS = [...`${README}${OTHERS}`.matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, path = '']) => path)
const PACKED = new Set([...DOCS, 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'])

test('the README of the package names nothing that only a clone has', () => {
  const text = packedReadme(README, OTHERS, PACKED)
  expect(text).not.toMatch(
    /npm ci|npm start|npm run (?!dev)|npm test|ARCHITECTURE|CONTRIBUTING|docs\/(?:images|decisions)|clone/,
  )
  expect(text).toContain('npx millrace new ../my-app')
  expect(text).toContain('## Limits')
})

test('a link to a file that is not packed stops the packing', () => {
  const readme = '# Mill\n\n![Mill](docs/mill.png)\n\n[How](ARCHITECTURE.md) and [why](docs/why.md#now)\n'
  expect(() => packedReadme(readme, '', new Set(['docs/why.md']))).toThrow('links to ARCHITECTURE.md, which')
  expect(packedReadme(readme, '', new Set(['docs/why.md', 'ARCHITECTURE.md']))).not.toContain('mill.png')
})

test('a section that replaces none stops the packing', () => {
  expect(() => packedReadme('# Mill\n\n## Run\n', '## Start\n\nnpx', PACKED)).toThrow('no section "Start"')
})
