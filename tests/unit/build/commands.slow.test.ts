import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PROJECT = resolve(import.meta.dirname, '../../..')
const APP = join(PROJECT, 'tests/fixtures/build-dev')

let temp: TempDir

beforeAll(async () => {
  temp = await makeTempDir('start')
})

afterAll(() => temp.remove())

function run(command: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(
    process.execPath,
    ['--conditions=millrace-source', join(PROJECT, 'bin/millrace.js'), command, ...args],
    {
      cwd: temp.path,
      env: { PATH, HOME, PORT: '0', HOST: '127.0.0.1', DATA_DIR: join(temp.path, 'data'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  return { child, errors: text(child.stderr), output: child.stdout }
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  return child.exitCode ?? ((await once(child, 'close'))[0] as number | null)
}

test('--help lists the configuration, and needs no build', async () => {
  const { child, output } = run('start', {}, '--help')
  const help = await text(output)
  expect(await exitCode(child)).toBe(0)
  expect(help).toContain('--app <folder>')
  expect(help).toMatch(/^ {2}PORT\b/m)
})

test('an unknown argument is named', async () => {
  const { child, errors } = run('start', {}, '--prot=1')
  expect(await errors).toContain(`Unknown option '--prot'`)
  expect(await exitCode(child)).toBe(1)
})

test('a folder that is no application is named, in words and without a stack', async () => {
  const { child, errors } = run('start', {}, '--app', join(PROJECT, 'docs'))
  const said = await errors
  expect(said).toContain('docs is not an application: app.ts is missing.')
  expect(said).not.toMatch(/^\s+at /m)
  expect(await exitCode(child)).toBe(1)
})

test('build --quiet prints one line', async () => {
  const out = join(temp.path, 'quiet')
  const { child, errors, output } = run('build', {}, '--app', APP, '--out', out, '--quiet')
  const said = await text(output)
  expect([await exitCode(child), await errors]).toEqual([0, ''])
  expect(said).toMatch(/^Built quiet in [\d.]+ s, build [\da-f]{16}\.\n$/)
})

test('build --analyze json writes what is in the scripts beside the public files, and no others', async () => {
  const out = join(temp.path, 'analyzed')
  const { child, errors, output } = run('build', {}, '--app', APP, '--out', out, '--analyze', 'json')
  const said = await text(output)
  expect([await exitCode(child), await errors]).toEqual([0, ''])
  expect(said).toContain('\nWrote analyzed/analysis.json.\n')
  const files = await readdir(out, { recursive: true })
  expect(files.filter((file) => file.includes('analysis'))).toEqual(['analysis.json'])
  const analysis = JSON.parse(await readFile(join(out, 'analysis.json'), 'utf8'))
  expect(analysis).toMatchObject({ version: 1, duplicates: [] })
  expect(said).toContain(`build ${analysis.buildId}.`)
  const scripts = files.filter((file) => /^public\/[^/]+\.js$/.test(file)).map((file) => file.slice('public/'.length))
  expect(analysis.chunks.map(({ name }: { name: string }) => name).toSorted()).toEqual(scripts.toSorted())
})

describe('an application', () => {
  /** Starts it, asks for its page, ends it by SIGTERM; gives the page and what was said on stderr. */
  async function serveOnce(): Promise<{ readonly page: string; readonly errors: string }> {
    const { child, errors, output } = run('start', {}, '--app', APP, '--out', join(temp.path, 'out'))
    for await (const line of createInterface({ input: output })) {
      const url = /http:\/\/localhost:\d+/.exec(line)?.[0]
      if (url === undefined) continue
      const page = await (await fetch(url)).text()
      child.kill('SIGTERM')
      expect(await exitCode(child)).toBe(0)
      return { page, errors: await errors }
    }
    throw new Error(`It ended before it was listening.\n${await errors}`)
  }

  test('is built when there is no build, then served by this very process; the next start builds nothing', async () => {
    const first = await serveOnce()
    expect(first.errors).toMatch(/^The build in out is missing; building\.\nBuilt out, build \w+\.\n$/)
    expect(first.page).toContain('First version')
    const second = await serveOnce()
    expect(second.errors).toBe('')
    expect(second.page).toContain('First version')
  })
})

test('a build that is ended from outside, as for want of memory, is told of', async () => {
  const killed = `if (process.argv[2] === 'build') process.kill(process.pid, 'SIGKILL')`
  const env = { NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(killed)}"` }
  const { child, errors } = run('start', env, '--app', APP, '--out', join(temp.path, 'killed'))
  expect(await errors).toContain('The build was ended by SIGKILL.')
  expect(await exitCode(child)).toBe(1)
})

test('a signal in the middle of the build ends it, too, and leaves nothing', async () => {
  const out = join(temp.path, 'cut')
  const { child } = run('start', {}, '--app', APP, '--out', out)
  await once(child.stderr, 'data')
  child.kill('SIGTERM')
  // Its output is closed when the build's process has ended as well.
  const [, signal] = (await once(child, 'close')) as [null, NodeJS.Signals]
  expect(signal).toBe('SIGTERM')
  expect(existsSync(out)).toBe(false)
})

describe('npm run build', () => {
  test('shows each chunk of the browser and of the server with its sizes', async () => {
    const { child, output } = run('build', {}, '--app', APP, '--out', join(temp.path, 'built'))
    const said = await text(output)
    expect(await exitCode(child)).toBe(0)
    const size = String.raw`\d+\.\d\d kB +\d+\.\d\d kB +\d+\.\d\d kB`
    expect(said).toMatch(/^Scripts in the browser .* raw +gzip +brotli$/m)
    expect(said).toMatch(new RegExp(`^  counter-page-\\w+\\.js +${size} +`, 'm'))
    expect(said).toMatch(new RegExp(`^  counter-page-\\w+\\.css +${size}$`, 'm'))
    expect(said).toMatch(new RegExp(`^  server\\.js +${size} +src/server/main\\.ts$`, 'm'))
    expect(said).toMatch(/\nBuilt built in \d+\.\d s, build \w+\.\n$/)
  })

  test('ends with exit code 1 and the fault in words', async () => {
    const { child, errors } = run('build', {}, '--app', join(PROJECT, 'docs'))
    const said = await errors
    expect(said).toContain('docs is not an application: app.ts is missing.')
    expect(said).not.toMatch(/^\s+at /m)
    expect(await exitCode(child)).toBe(1)
  })
})

test('npm run dev refuses a wrong variable in one line that names it', async () => {
  const { child, errors } = run('dev', { PORT: 'three' }, '--app', APP)
  expect((await errors).trim()).toMatch(/^PORT: .*three.*$/)
  expect(await exitCode(child)).toBe(1)
})
