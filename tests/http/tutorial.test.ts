/** Follows the tutorial of the handbook: its commands, its files, and what it says is to be seen. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, createVisitor, readStream, type TestApp, type Visitor } from 'millrace/testing'
import type { AppDefinition } from 'millrace/server'
import { startBuiltServer } from '../support/built-server.ts'
import { compileProgram } from '../support/compile-program.ts'
import { freePort } from '../support/free-ports.ts'
import { runMillrace } from '../support/linked-project.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { applyEdits, tutorialSteps, type Shown, type TutorialStep } from '../support/tutorial.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const PASSWORD = 'let me in, please'
const run = promisify(execFile)

const state = { temp: undefined as TempDir | undefined, steps: [] as readonly TutorialStep[] }
const folderOf = (step: number): string => join(state.temp?.path ?? '', `step-${step}`, 'desk')
const stepOf = (number: number): TutorialStep => {
  const step = state.steps[number - 1]
  if (step === undefined) throw new Error(`There is no step ${number}.`)
  return step
}

/** Each step has a folder of its own, so that its modules are new ones. */
beforeAll(async () => {
  state.temp = await makeTempDir('tutorial')
  state.steps = await tutorialSteps()
  const packages = join(state.temp.path, 'node_modules')
  await mkdir(packages)
  await symlink(PROJECT, join(packages, 'millrace'))
  for (const name of ['react', 'react-dom', 'zod']) {
    await symlink(join(PROJECT, 'node_modules', name), join(packages, name))
  }
  await run(process.execPath, [
    join(PROJECT, 'bin/millrace.js'),
    'new',
    folderOf(1),
    '--no-install',
    '--package',
    '0.1.0',
  ])
  for (const [index, { edits, commands }] of state.steps.entries()) {
    if (index > 0) await cp(folderOf(index), folderOf(index + 1), { recursive: true })
    for (const command of commands.filter((one) => one.startsWith('rm '))) {
      await run('sh', ['-ec', command], { cwd: folderOf(index + 1) })
    }
    await applyEdits(folderOf(index + 1), edits)
  }
})

afterAll(() => state.temp?.remove())

async function opened(step: number): Promise<TestApp> {
  const { default: application } = (await import(join(folderOf(step), 'src/app/app.ts'))) as { default: AppDefinition }
  return createTestApp(application, step < 5 ? {} : { environment: { DESK_PASSWORD: PASSWORD } })
}

/** What a visitor finds at URLs of a step, and the links there that lead nowhere. */
async function look(visitor: Visitor, shown: readonly Shown[]) {
  const found: Shown[] = []
  const links = new Set<string>()
  for (const { path, text } of shown) {
    const page = await visitor.get(path)
    const body = page.text('body') || page.html // a text is no document
    found.push({ path, status: page.status, text: body.includes(text) ? text : body })
    for (const { attributes } of page.all('a')) links.add(attributes['href'] ?? '')
  }
  const dead: string[] = []
  for (const link of links) if ((await visitor.fetch(link)).status === 404) dead.push(link)
  return { shown: found, dead }
}

const signedIn = async (app: TestApp): Promise<Visitor> => {
  const visitor = app.visitor()
  const page = await (await visitor.get('/tickets')).submit('form', { name: 'Gus', password: PASSWORD })
  expect([page.url, page.status]).toEqual(['/tickets', 200])
  return visitor
}

const TICKET = { email: 'bob@example.com', subject: 'No light', text: 'The lamp is dark.' }

describe('the tutorial', () => {
  test('has eight steps and begins with the command that the test runs', () => {
    expect(state.steps.map(({ title }) => title.slice(0, 7))).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `Step ${number}:`),
    )
    expect(stepOf(1).commands.join()).toMatch(/millrace new desk\n/)
  })

  test.for([1, 2, 3, 4, 5, 6])('step %i shows what it says', async (step) => {
    await using app = await opened(step)
    const { shown } = stepOf(step)
    expect(await look(app.visitor(), shown)).toEqual({ shown, dead: step === 1 ? ['/mills/99'] : [] })
  })

  test('step 4 refuses an empty ticket, thanks for a whole one, and lists it', async () => {
    await using app = await opened(4)
    const visitor = app.visitor()
    const refused = await (await visitor.get('/new')).submit('form')
    expect(refused.status).toBe(422)
    const faults = ['Please give your e-mail address.', 'Please give a subject.', 'Please say what does not work.']
    for (const fault of faults) expect(refused.text('form')).toContain(fault)
    const sent = await refused.submit('form', TICKET)
    expect([sent.status, sent.text('[role=status]')]).toEqual([200, 'Thank you. Your ticket has the number 2.'])
    expect((await visitor.get('/tickets')).all('li').map(({ text }) => text)).toEqual(['Printer jams', 'No light'])
  })

  test('step 4 hides no ticket behind others', async () => {
    await using app = await opened(4)
    const { addTicket } = (await import(join(folderOf(4), 'src/app/tickets/store.server.ts'))) as {
      addTicket: (context: { dataDir: string }, ticket: typeof TICKET) => number
    }
    for (let id = 2; id <= 51; id++) addTicket(app, { ...TICKET, subject: 'Made up' })
    const visitor = app.visitor()
    await (await visitor.get('/new')).submit('form', TICKET)
    const list = await visitor.get('/tickets')
    expect(list.all('li')).toHaveLength(50)
    const next = await list.follow('ul + a')
    expect([next.url, next.all('li').map(({ text }) => text)]).toEqual(['/tickets?after=50', ['Made up', 'No light']])
    expect(next.all('ul + a')).toEqual([])
  })

  test('step 5 lets agents in and out, and tells the others nothing', async () => {
    await using app = await opened(5)
    const refused = await (await app.visitor().get('/tickets')).submit('form', { name: 'Gus', password: 'guess' })
    expect([refused.status, refused.text('[role=alert]')]).toEqual([422, 'The password is wrong.'])
    expect(refused.html).not.toContain('Printer')
    const agent = await signedIn(app)
    const list = await agent.get('/tickets')
    expect(list.text('#sign-out')).toContain('You are Gus.')
    expect((await list.submit('#sign-out')).url).toBe('/')
    expect((await agent.get('/tickets')).status).toBe(401)
  })

  test('step 6 tells the list of a new ticket, and closes one for agents only', async () => {
    await using app = await opened(6)
    const agent = await signedIn(app)
    expect((await app.visitor().fetch('/tickets/events')).status).toBe(401)
    await using stream = readStream(await agent.fetch('/tickets/events'), { signal: AbortSignal.timeout(20_000) })
    await (await app.visitor().get('/new')).submit('form', TICKET)
    await stream.until('tickets')
    const ticket = await agent.get('/tickets/2')
    expect((await app.visitor().submit(ticket, '#close')).status).toBe(401)
    const list = await ticket.submit('#close')
    expect([list.url, list.all('li').map(({ text }) => text)]).toEqual(['/tickets', ['Printer jams']])
  })

  test('step 7 has tests that pass in the runner of a new application', async () => {
    const register = ['--conditions=millrace-source', '--import', 'millrace/testing/register']
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout } = await run(process.execPath, [...register, '--test', 'tests/desk.test.ts'], {
      cwd: folderOf(7),
      env,
    })
    expect(stdout).toMatch(/pass 2$/m)
  })

  test('its files compile with the table registered', async () => {
    const root = folderOf(8)
    const paths = ['src', 'tests'].map(async (folder) => {
      const entries = await readdir(join(root, folder), { recursive: true })
      return entries.filter((path) => /\.tsx?$/.test(path)).map((path) => join(folder, path))
    })
    const files = (await Promise.all(paths)).flat()
    expect(files.length).toBeGreaterThan(20)
    const texts = await Promise.all(files.map((path) => readFile(join(root, path), 'utf8')))
    expect(texts.join('\n').match(/^.*\S/gm)?.length).toBeLessThan(400) // as the chapter says
    const program = Object.fromEntries(files.map((path, index) => [path, texts[index] ?? '']))
    expect([...(await compileProgram(program))]).toEqual([])
  })

  test('step 8 serves the build with the settings of the container', async () => {
    const root = folderOf(8)
    const settings = stepOf(8).commands.find((command) => command.startsWith('install ')) ?? ''
    await run('sh', ['-ec', settings], { cwd: root })
    const built = await runMillrace(root, ['build', '--quiet'])
    expect(built).toMatchObject({ code: 0, errors: '' })
    const lines = (await readFile(join(root, '.env.container.local'), 'utf8')).trim().split('\n')
    const given = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s)))
    expect(stepOf(8).commands.join('\n')).toContain('--env-file .env.container.local')
    const PORT = String(await freePort()) // instead of the container's 3000
    const env = { ...given, NODE_ENV: 'production', PORT, ORIGIN: given['ORIGIN'].replace('3000', PORT) }
    const server = await startBuiltServer({ entry: join(root, 'dist/server/main.js'), env })
    try {
      const { shown } = stepOf(8)
      expect(await look(createVisitor(env.ORIGIN), shown)).toEqual({ shown, dead: [] })
    } finally {
      await server.stop()
    }
  })
})
