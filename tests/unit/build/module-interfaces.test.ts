import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readInterfaces, type ModuleInterface } from '../../../scripts/dev/compile/module-interfaces.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

async function interfaceOf(text: string): Promise<ModuleInterface | undefined> {
  await using folder = await makeTempDir('interfaces')
  await writeFile(join(folder.path, 'module.tsx'), text)
  return (await readInterfaces(folder.path, ['module.tsx'])).get('module.tsx')
}

const BASE = `import { a } from './a.ts'\nexport const value = a + 1\n`

test.for([
  ['another value', `import { a } from './a.ts'\nexport const value = a + 2\n`],
  ['a type', `import { a } from './a.ts'\nimport type { B } from './b.ts'\nexport const value: B = a + 1\n`],
  ['a comment', `// import { b } from './b.ts'\n${BASE}`],
  ['a local', `import { a } from './a.ts'\nconst b = 1\nexport const value = a + b\n`],
] as const)('stays the same with %s', async ([, text]) => {
  expect(await interfaceOf(text)).toEqual(await interfaceOf(BASE))
})

test.for([
  ['another import', `import './b.ts'\n${BASE}`],
  ['another name of an import', `import { b as a } from './a.ts'\nexport const value = a + 1\n`],
  ['names of an import on lines of their own', `import {\n  a,\n  b,\n} from './a.ts'\nexport const value = a + b\n`],
  ['another export', `${BASE}export const other = 1\n`],
  ['a default export', `${BASE}export default value\n`],
  ['a re-export', `${BASE}export * from './b.ts'\n`],
  ['a dynamic import', `${BASE}void import('./b.ts')\n`],
  ['the first JSX', `${BASE}void (<p />)\n`],
  ['a renamed export', `import { a } from './a.ts'\nexport const others = a + 1\n`],
] as const)('changes with %s', async ([, text]) => {
  expect(await interfaceOf(text)).not.toEqual(await interfaceOf(BASE))
})

test('is not known of a file that was written after the build has begun', async () => {
  await using folder = await makeTempDir('interfaces')
  await writeFile(join(folder.path, 'module.ts'), BASE)
  expect([...(await readInterfaces(folder.path, ['module.ts'], 0))]).toEqual([])
})
