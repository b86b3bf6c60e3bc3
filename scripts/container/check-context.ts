import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Engine } from './engine.ts'
import { readTree } from './image-tree.ts'
import { createCheckList } from './check-list.ts'

const TAKEN = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'LICENSE',
  'src/server/main.ts',
  'scripts/command/build.ts',
  'docs/index.md',
  'deploy/health-check.mjs',
]
/** Files of a developer who has tried the server out. */
const LEFT_OUT = [
  '.env',
  '.env.local',
  'src/.env',
  'src/app/.env.production',
  'data/secret-keys',
  'data/guestbook.sqlite',
  '.git/config',
  'node_modules/x/index.js',
  'dist/manifest.json',
  'dist/former/build/page.js',
  'tests/unit/x.test.ts',
  'deploy/kubernetes/deployment.yaml',
  'src/app/debug.log',
  'docs/.DS_Store',
  'id_rsa',
  'compose.yaml',
]

/**
 * Sends a folder with secrets and leftovers to a build that copies everything, and prints which files arrive.
 * @param ignoreList absolute path of `.dockerignore`.
 * @param work absolute path of a folder to create.
 * @returns titles of failed checks.
 */
export async function checkContext(engine: Engine, ignoreList: string, work: string): Promise<readonly string[]> {
  const { check, faults } = createCheckList()
  console.log('\nWhat goes into the build')
  const context = join(work, 'context')
  for (const name of [...TAKEN, ...LEFT_OUT]) {
    mkdirSync(dirname(join(context, name)), { recursive: true })
    writeFileSync(join(context, name), name)
  }
  cpSync(ignoreList, join(context, '.dockerignore'))
  const dockerfile = join(work, 'Dockerfile')
  writeFileSync(dockerfile, 'FROM scratch\nCOPY . /sent\n')
  const { root } = await engine.build({ context, dockerfile, tag: 'localhost/millrace-context' })
  const files = readTree(root).filter(({ kind }) => kind === 'file')
  const sent = files.map(({ path }) => path.replace(/^\/sent\//, ''))
  const missing = TAKEN.filter((name) => !sent.includes(name))
  check('the sources do', missing.length === 0, missing.join(', ') || `${TAKEN.length} of ${TAKEN.length}`)
  const extra = sent.filter((name) => !TAKEN.includes(name))
  check('keys, data, other builds and tests do not', extra.length === 0, extra.join(', '))
  return faults
}
