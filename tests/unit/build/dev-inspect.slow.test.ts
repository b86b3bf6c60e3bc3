import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startDevServer } from '../../../scripts/dev/dev-server.ts'
import { attachDebugger } from '../../support/debugger.ts'
import { freePort } from '../../support/free-ports.ts'
import { copyProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const PAGE = 'src/app/lab/page.tsx'
const component = (text: string): string => `export default function LabPage() {\n  return <p>${text}</p>\n}\n`

async function setUp(waits: boolean) {
  const project = await copyProject({ [PAGE]: component('The lab') })
  const port = await freePort()
  const printed: string[] = []
  const dev = await startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    inspector: { host: '127.0.0.1', port, waits },
    env: { ...process.env, PUBLIC_TITLE: 'Title' },
    session: 'one',
    print: (text) => void printed.push(text),
  })
  onTestFinished(async () => {
    await dev.close()
    await project.remove()
  })
  const read = async (): Promise<string> => (await fetch(`${dev.url}/(lab)/lab`)).text()
  return { project, port, printed, read, page: join(project.options.root, PAGE) }
}

test('a breakpoint in a page holds its request, also after a save, and even after a save at the breakpoint', async () => {
  const { project, port, printed, read, page } = await setUp(false)
  expect(await read()).toContain('The lab')
  using first = await attachDebugger(port)
  await first.breakAt(page, 2)
  const held = read()
  expect(await first.paused()).toMatch(/^file:/)
  await first.resume()
  expect(await held).toContain('The lab')

  await project.change({ [PAGE]: component('Changed') })
  await first.closed
  using second = await attachDebugger(port)
  expect(await read()).toContain('Changed')
  await second.breakAt(page, 2)
  const abandoned = read()
  await second.paused()

  await project.change({ [PAGE]: component('Changed again') })
  await second.closed
  using third = await attachDebugger(port)
  await abandoned
  expect(await read()).toContain('Changed again')
  await third.breakAt(page, 2)
  const last = read()
  await third.paused()
  await third.resume()
  expect(await last).toContain('Changed again')
  expect(printed.join('\n')).not.toContain('Debugger listening')
})

test('a server that waits for its debugger answers when one has attached', async () => {
  const { port, read } = await setUp(true)
  const answer = read()
  using attached = await attachDebugger(port)
  await attached.run()
  expect(await answer).toContain('The lab')
})
