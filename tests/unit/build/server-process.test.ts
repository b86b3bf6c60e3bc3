import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createServerProcess, type ServerProcess } from '../../../scripts/dev/process/server-process.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

vi.setConfig({ testTimeout: 30_000 })

interface Setup {
  readonly server: ServerProcess
  readonly lines: { readonly text: string; readonly isCurrent: boolean }[]
  readonly failures: Error[]
  /** Writes a generation's program, and gives its path. */
  program(name: string, text: string): Promise<string>
}

async function setUp(): Promise<Setup> {
  const temp = await makeTempDir('server-process')
  const lines: { text: string; isCurrent: boolean }[] = []
  const failures: Error[] = []
  const server = createServerProcess(
    process.env,
    { line: (text, isCurrent) => lines.push({ text, isCurrent }) },
    (failure) => failures.push(failure),
  )
  onTestFinished(async () => {
    await server.stop()
    await temp.remove()
  })
  return {
    server,
    lines,
    failures,
    async program(name, text) {
      const file = join(temp.path, `${name}.mjs`)
      await writeFile(file, text)
      return file
    },
  }
}

const RUN = 'setInterval(() => undefined, 1000)'
const LISTENING = 'Millrace is listening on http://localhost:'
const listensOn = (port: number): string => `console.log('${LISTENING}${port}'); ${RUN}`

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function lineWith(lines: Setup['lines'], text: string): Promise<string> {
  return expect
    .poll(() => lines.find((line) => line.text.includes(text))?.text, { timeout: 10_000 })
    .toBeDefined()
    .then(() => lines.find((line) => line.text.includes(text))?.text ?? '')
}

test('a server that fails to start after another has taken its place is not told, and keeps no request from that', async () => {
  const { server, lines, failures, program } = await setUp()
  const broken = `process.on('SIGTERM', () => { console.error('the old fault'); process.exit(1) })
    console.log('{"pid":' + process.pid + '}'); ${RUN}`
  server.replace(await program('broken', broken))
  const waiting = server.port()
  const { pid }: { readonly pid: number } = JSON.parse(await lineWith(lines, 'pid'))
  server.replace(await program('mended', listensOn(4_001)))
  expect(await waiting).toBe(4_001)
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  expect(await server.port()).toBe(4_001)
  expect(failures).toEqual([])
  expect(lines.map(({ text }) => text)).not.toContain('the old fault')
})

test('what a server still writes while its successor starts is known to be of the former sources', async () => {
  const { server, lines, program } = await setUp()
  const former = `import { watch, existsSync } from 'node:fs'
    watch(import.meta.dirname, () => existsSync(import.meta.dirname + '/next.mjs') && console.log('late'))
    console.log('early'); console.log('${LISTENING}4002'); ${RUN}`
  server.replace(await program('former', former))
  expect(await server.port()).toBe(4_002)
  server.replace(await program('silent', RUN))
  await program('next', '')
  await lineWith(lines, 'late')
  expect(lines.filter(({ text }) => text === 'early' || text === 'late')).toContainEqual({
    text: 'early',
    isCurrent: true,
  })
  expect(lines.filter(({ text }) => text === 'late').every(({ isCurrent }) => !isCurrent)).toBe(true)
})

test('a server that cannot start is told once, and its requests fail until it is replaced', async () => {
  const { server, failures, program } = await setUp()
  server.replace(await program('broken', `console.error('no database'); process.exit(3)`))
  await expect(server.port()).rejects.toThrow('with exit code 3')
  await expect(server.port()).rejects.toThrow('with exit code 3')
  expect(failures).toHaveLength(1)
  server.replace(await program('mended', listensOn(4_003)))
  expect(await server.port()).toBe(4_003)
})
