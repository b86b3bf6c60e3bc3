/** `millrace dev` while packages are installed. */
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { makeLinkedProject, startDevCommand, writeFiles } from '../../support/linked-project.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

vi.setConfig({ testTimeout: 180_000 }) // for hangs only

const PAGE = `import { word } from 'late-package'
export default () => <main>{word}</main>
`
const PACKAGE = {
  'node_modules/late-package/package.json':
    '{ "name": "late-package", "version": "1.0.0", "type": "module", "main": "index.js" }',
  'node_modules/late-package/index.js': `export const word = 'installed'\n`,
}

test('a package that is installed needs no other save', async () => {
  await using temp = await makeTempDir('packages')
  const root = await makeLinkedProject(join(temp.path, 'project'), { 'src/app/counter-page.tsx': PAGE })
  await using dev = await startDevCommand(root)
  const shown = (): Promise<string> => fetch(dev.origin).then(async (answer) => answer.text(), String)
  await expect.poll(dev.output, { timeout: 60_000 }).toContain('Install the package (npm install late-package)')
  await writeFiles(root, { ...PACKAGE, 'package-lock.json': '{}' })
  await expect.poll(shown, { timeout: 60_000 }).toContain('<main>installed</main>')

  // As `npm ci` does it, which leaves the lock file as it is.
  const [folder, away] = [join(root, 'node_modules/late-package'), join(root, 'away')]
  await rename(folder, away)
  await writeFiles(root, { 'node_modules/.package-lock.json': '{ "packages": {} }' })
  await expect.poll(() => dev.output().match(/npm install late-package/g)?.length, { timeout: 60_000 }).toBe(2)
  await rename(away, folder)
  await writeFiles(root, { 'node_modules/.package-lock.json': '{}' })
  await expect.poll(() => dev.output().match(/The build works again/g)?.length, { timeout: 60_000 }).toBe(2)
  await expect.poll(shown, { timeout: 60_000 }).toContain('<main>installed</main>')
})
