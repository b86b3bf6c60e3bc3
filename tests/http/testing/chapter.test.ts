import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { makeTempDir } from '../../support/temp-dir.ts'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')

/** The page of a mill with a slot, which a new application does not have. */
const SLOTS: Readonly<Record<string, string>> = {
  'loader.server.ts': `
    import type { LoaderArgs, VisitorArgs } from 'millrace/server'
    export function loader({ cache }: LoaderArgs<'/mills/[id]'>) {
      cache({ shared: { seconds: 60 } })
      return { name: 'Upper mill' }
    }
    export function visitor({ context }: VisitorArgs<'/mills/[id]', typeof loader>) {
      return context.cookie('name') ?? 'nobody'
    }`,
  'page.tsx': `
    import { Suspense, use } from 'react'
    export default function MillPage({ data }: any) {
      return <Suspense fallback={<p>…</p>}><Hello name={data.visitor} /></Suspense>
    }
    function Hello({ name }: any) {
      return <p id="hello">{\`Hello \${use(name)}\`}</p>
    }`,
}

/** Runs samples of the chapter in a new application. @returns what the runner has printed. */
async function run(samples: readonly string[], mills: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await makeTempDir('chapter')
  onTestFinished(() => folder.remove())
  const app = join(folder.path, 'src/app')
  await cp(join(PROJECT, 'templates/application/src'), join(folder.path, 'src'), { recursive: true })
  for (const [name, text] of Object.entries(mills)) await writeFile(join(app, 'mills', name), text)
  if (mills === SLOTS) {
    const routes = await readFile(join(app, 'routes.ts'), 'utf8')
    await writeFile(
      join(app, 'routes.ts'),
      routes.replace("'/mills/[id]': {", "'/mills/[id]': {\n    cache: 'shared',"),
    )
  }
  await mkdir(join(folder.path, 'node_modules'))
  await symlink(PROJECT, join(folder.path, 'node_modules/millrace'))
  for (const name of ['react', 'supertest', 'zod']) {
    await symlink(join(PROJECT, 'node_modules', name), join(folder.path, 'node_modules', name))
  }
  await mkdir(join(folder.path, 'tests'))
  for (const [at, code] of samples.entries()) await writeFile(join(folder.path, `tests/${at}.test.ts`), code)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const register = ['--conditions=millrace-source', '--import', 'millrace/testing/register']
  const { stdout } = await promisify(execFile)(process.execPath, [...register, '--test', 'tests/*.test.ts'], {
    cwd: folder.path,
    env,
  })
  return stdout
}

/** The samples for Node's test runner, but the one with a browser: it is a part of the new application's own tests. */
async function samplesOf(isWanted: (code: string) => boolean): Promise<readonly string[]> {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/testing.md'), 'utf8'))
  return blocks
    .map(({ code }) => code)
    .filter((code) => /from 'node:test'/.test(code) && !/playwright/.test(code) && isWanted(code))
}

const hasSlots = (code: string): boolean => code.includes('expectKept')

test("the samples of the chapter pass in a new application, in Node's test runner", async () => {
  const samples = await samplesOf((code) => !hasSlots(code))
  expect(await run(samples)).toMatch(/pass 6$/m)
  expect(samples).toHaveLength(6)
})

test('the sample about slots passes where the page of a mill has one', async () => {
  const samples = await samplesOf(hasSlots)
  expect(await run(samples, SLOTS)).toMatch(/pass 1$/m)
  expect(samples).toHaveLength(1)
})
