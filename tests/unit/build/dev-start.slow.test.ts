/** What a start of the development server needs, and what it answers before its first build is done. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DevWork } from '../../../scripts/dev/compile/dev-parts.ts'
import { startDevServer, type DevServerOptions } from '../../../scripts/dev/dev-server.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let project: FixtureProject

beforeEach(async () => {
  project = await copyProject({})
})

afterEach(() => project.remove())

const start = (options: Partial<DevServerOptions>) =>
  startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    env: { ...process.env },
    session: 'one',
    print: () => undefined,
    ...options,
  })

/** The work of a server until it has answered with a page. */
async function workOfStart(cache: string): Promise<readonly DevWork[]> {
  const work: DevWork[] = []
  const dev = await start({ cache, onWork: (started) => void work.push(started) })
  expect(await (await fetch(`${dev.url}/(lab)/lab`)).text()).toContain('</html>')
  await dev.close()
  return work
}

test('packages are bundled at the first start, and not at the second one', async () => {
  const cache = join(project.options.root, '.dev-cache')
  expect(await workOfStart(cache)).toContain('packages')
  const second = await workOfStart(cache)
  expect(second).not.toContain('packages')
  expect(second).toContain('browser bundle')
})

test('requests wait for the first build', async () => {
  const work: DevWork[] = []
  const { promise, resolve } = Promise.withResolvers<readonly [DevWork[], ...Promise<Response>[]]>()
  const dev = await start({
    onWork: (started) => void work.push(started),
    onListening: ({ url }) =>
      resolve([[...work], fetch(`${url}/(lab)/lab`), fetch(`${url}/_m/assets/src/app/lab/page.tsx`)]),
  })
  const [before, page, module] = await promise
  expect(before).not.toContain('browser bundle')
  expect(await (await page)?.text()).toContain('</html>')
  expect(await (await module)?.text()).toContain('LabPage')
  await dev.close()
})
