/** What users get wrong: each ends in one line on stderr and exit code 1, and leaves the project as it was. */
import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { makeLinkedProject, runMillrace as run, writeFiles as write } from '../../support/linked-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PROJECT = resolve(import.meta.dirname, '../../..')
const BIN = join(PROJECT, 'bin/millrace.js')

let temp: TempDir

beforeAll(async () => {
  temp = await makeTempDir('faults')
})

afterAll(() => temp.remove())

const makeProject = (name: string, files?: Readonly<Record<string, string>>): Promise<string> =>
  makeLinkedProject(join(temp.path, name), files)

/** All files of a project but those of its packages, with their contents. */
async function snapshot(root: string): Promise<unknown> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const own = paths.filter((path) => !path.includes('node_modules')).toSorted()
  return Promise.all(own.map(async (path) => [path, await readFile(path, 'utf8')]))
}

describe('an argument', () => {
  test.for([
    [
      ['build', '--oot', 'x'],
      "Unknown option '--oot'. The options are --app <folder>, --out <folder>, --analyze [text|json] and --quiet.",
    ],
    [['start', 'extra'], "Unexpected argument 'extra'. The options are --app <folder> and --out <folder>."],
    [['build', '--analyze', 'xml'], "--analyze is 'xml': it takes text, which is also its meaning alone, or json."],
    [['build', '--analyze='], "--analyze is '': it takes text, "],
    [['serve', '--app'], "Option '--app <value>' argument missing. The options are --app <folder> and --out <folder>."],
    [['build', '--out', '--app'], "Option '--out' argument is ambiguous. The options are"],
    [['dev', '--out', 'x'], "Unknown option '--out'. The options are --app <folder>, --inspect ["],
    [
      ['dev', '--allow-host', 'https://a.example'],
      "--allow-host 'https://a.example' is not a host name: leave out scheme",
    ],
    [['dev', '--poll', '1'], "--poll is '1': it takes milliseconds, from 50 to 60000."],
    [['dev', '--cert', 'cert.pem'], '--cert <file> and --key <file> belong together'],
    [['dev', '--cert', 'a.pem', '--key', 'b.pem'], 'The certificate a.pem with the key b.pem cannot be used: ENOENT'],
    [['dev', '--https=yes'], "Option '--https' does not take an argument. The options are"],
    [['dev', '--inspect', 'nowhere'], '--inspect takes a port from 1 to 65535, with or without an address: '],
    [['dev', '--inspect=70000'], '--inspect takes a port from 1 to 65535'],
    [['dev', '--inspect-wait', '0'], '--inspect-wait takes a port from 1 to 65535'],
    [['routes', '--out', 'x'], "Unknown option '--out'. The options are --app <folder>."],
    [['constructor'], 'constructor is not a command of millrace. The commands are new, dev,'],
    [['serve', '--out', 'nowhere'], 'There is no build in nowhere. Make one: npm run build'],
    [['build', '--app', 'nowhere'], 'nowhere is not an application: app.ts is missing. '],
    [['new'], 'millrace new takes one folder. Usage: millrace new <folder> [options]; '],
    [['new', ''], 'millrace new takes one folder. '],
    [['new', 'a', 'b'], 'millrace new takes one folder. '],
    [['new', 'a', '--bogus'], "Unknown option '--bogus'. Usage: "],
  ] as const)('%j is refused', async ([args, message]) => {
    const { code, out, errors } = await run(temp.path, args)
    expect([code, out]).toEqual([1, ''])
    expect(errors).toContain(message)
    expect(errors.trimEnd()).not.toContain('\n')
  })
})

describe('a config', () => {
  const thrower = (where: string) =>
    `{ plugins: { ${where}: [{ name: 'boom', setup() { throw new Error('no key') } }] } }`
  const loader = (where: string, filter: string, thrown = `new Error('no key')`) =>
    `{ plugins: { ${where}: [{ name: 'boom', setup(b) {
  b.onLoad({ filter: ${filter} }, () => { throw ${thrown} })
} }] } }`
  const byThrower = /^✘ \[ERROR\] no key \(millrace\.config\.ts:1:\d+\) \[plugin boom\]$/

  test.for([
    ['a plugin that throws in its setup, for browsers', thrower('browser'), byThrower],
    ['a plugin that throws in its setup, for the server', thrower('server'), byThrower],
    [
      'a plugin that throws in onLoad, for browsers',
      loader('browser', '/counter-page\\.tsx$/'),
      /^✘ \[ERROR\] no key \(millrace\.config\.ts:2:\d+\) \[plugin boom\]\n\n {2}The plugin "boom" was triggered by this import\n\n {4}src\/app\/routes\.ts:5:\d+:/,
    ],
    [
      'a plugin that throws in onLoad, for the server',
      loader('server', '/loader\\.server\\.ts$/'),
      /^✘ \[ERROR\] no key \(millrace\.config\.ts:2:\d+\) \[plugin boom\]\n\n {2}The plugin "boom" was triggered by this import\n\n {4}src\/app\/routes\.ts:6:\d+:/,
    ],
    [
      'a plugin that throws a text',
      loader('server', '/app\\.ts$/', `'no key'`),
      /^✘ \[ERROR\] no key \[plugin boom\]\n\n {4}inspection:.*'.\/app\.ts'\n.*$/s,
    ],
    ['an alias that is none', `{ alias: { './x': 'y' } }`, /^✘ \[ERROR\] Invalid alias name: "\.\/x"$/],
    [
      'a target that is none',
      `{ targets: ['netscape4'] }`,
      /^millrace\.config\.ts: targets\.0: is not a target of esbuild, such as 'chrome120' or 'es2022'$/,
    ],
    ['the project as output', `{ out: '.' }`, /^--out \S+ contains the project itself, .*$/],
    ['an unknown key', `{ plugin: [] }`, /^millrace\.config\.ts: unknown key 'plugin'; there are app, out, .*$/],
    ['a function', `() => ({})`, /^millrace\.config\.ts: the config: .*$/],
    ['what throws', `(() => { throw new Error('no key') })()`, /^millrace\.config\.ts could not be loaded: no key$/],
    [
      'a package that is missing',
      `{}\nimport 'nowhere'`,
      /^millrace\.config\.ts imports nowhere, which is not installed\. Install it: npm install --save-dev nowhere$/,
    ],
  ] as const)('with %s stops the build, and changes nothing', async ([name, config, message]) => {
    const root = await makeProject(name.replaceAll(/\W+/g, '-'), { 'dist/build-info.json': '{}' })
    await writeFile(join(root, 'millrace.config.ts'), `export default ${config}\n`)
    const before = await snapshot(root)
    const { code, errors } = await run(root, ['build'])
    expect(code).toBe(1)
    expect(errors.trimEnd()).toMatch(message)
    expect(errors).not.toMatch(/^\s+at /m)
    expect(await snapshot(root)).toEqual(before)
  })

  test('names the output, before the usual folder and behind the option', async () => {
    const root = await makeProject('output', { 'millrace.config.ts': `export default { out: 'made' }\n` })
    expect(await run(root, ['build'])).toMatchObject({ code: 0, out: expect.stringContaining('\nBuilt made in ') })
    expect(await run(root, ['build', '--out', 'told'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('\nBuilt told in '),
    })
    const written = await run(root, ['upload-source-maps', '--write', 'maps'])
    expect(written).toMatchObject({ code: 0, out: expect.stringMatching(/^maps has \d+ scripts and their maps\.$/m) })
    await write(root, { 'dist/server/main.js': `console.log('a former build')` })
    await write(root, { 'made/server/main.js': `console.log('the build of the config')` })
    await write(root, { 'told/server/main.js': `console.log('the build of the option')` })
    expect((await run(root, ['serve'])).out).toBe('the build of the config\n')
    expect((await run(root, ['serve', '--out', 'told'])).out).toBe('the build of the option\n')
    await writeFile(join(root, 'millrace.config.ts'), `import 'a-development-dependency'\nexport default {}\n`)
    expect((await run(root, ['serve'])).out).toBe('a former build\n')
  })
})

test('two copies of React stop the build, which names both', async () => {
  const root = await makeProject('two-reacts', {
    'node_modules/widget/package.json':
      '{ "name": "widget", "type": "module", "main": "index.js", "dependencies": { "react": "*" } }',
    'node_modules/widget/index.js': `import { useState } from 'react'\nexport const useIt = () => useState(0)\n`,
    'src/app/error.tsx': `import { useIt } from 'widget'\nexport default function ErrorPage() { return <p>{useIt()[0]}</p> }\n`,
  })
  const own = join(root, 'node_modules/widget/node_modules/react')
  await cp(join(PROJECT, 'node_modules/react'), own, { recursive: true })
  const { code, errors } = await run(root, ['build'])
  expect(code).toBe(1)
  expect(errors).toMatch(/^Two copies of react are installed, and hooks fail with two: .* npm ls react shows .*\n$/)
  for (const copy of [own, join(PROJECT, 'node_modules/react')]) expect(errors).toContain(relative(root, copy))
  expect(await readdir(root)).not.toContain('dist')
})

describe('.env files', () => {
  const page = `export default function CounterPage() { return <p>{\`of \${process.env.PUBLIC_A} \${process.env.PUBLIC_B} \${process.env.PUBLIC_C}\`}</p> }\n`

  test('give the first value of a variable: environment, .env.local, .env', async () => {
    const root = await makeProject('variables', {
      'src/app/counter-page.tsx': page,
      '.env.local': 'PUBLIC_A=local\nPUBLIC_B=local\n',
      '.env': 'PUBLIC_A=shared\nPUBLIC_B=shared\nPUBLIC_C="shared # value" # not this\n',
    })
    expect(await run(root, ['build'], { PUBLIC_A: 'environment' })).toMatchObject({ code: 0 })
    const files = await readdir(join(root, 'dist/server'))
    const texts = await Promise.all(files.map((file) => readFile(join(root, 'dist/server', file), 'utf8')))
    expect(texts.join('')).toContain('of environment local shared # value')
  })

  test('that cannot be read stop each command', async () => {
    const root = await makeProject('unreadable', { '.env/file': '' })
    const { code, errors } = await run(root, ['routes'])
    expect(code).toBe(1)
    expect(errors).toMatch(/^\.env could not be read: .+\n$/)
  })
})

/** A Node of this machine that is older than the oldest that works. */
function findOldNode(): string | undefined {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  return places.find((node) => {
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    return status === 0 && Number.parseInt(stdout.slice(1), 10) < 24
  })
}

const oldNode = findOldNode()

describe.skipIf(oldNode === undefined)('a Node that is too old (skipped where PATH has none)', () => {
  const plain = { encoding: 'utf8' } as const

  test('runs the help and new, and tells which one the other commands need', async () => {
    const old = (...args: readonly string[]) => spawnSync(oldNode ?? '', [BIN, ...args], { ...plain, cwd: temp.path })
    expect(old('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage: millrace <command>') })
    expect(old('serve', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--app <folder>') })
    const made = old('new', 'of-old-node', '--no-install', '--package', '0.1.0')
    expect(made).toMatchObject({ status: 0, stderr: '' })
    expect(await readdir(join(temp.path, 'of-old-node'))).toContain('Dockerfile')
    for (const command of ['dev', 'build', 'start', 'serve', 'routes', 'upload-source-maps']) {
      const { status, stderr } = old(command)
      expect(status).toBe(1)
      expect(stderr).toMatch(new RegExp(`^millrace ${command} needs Node 24 or newer, and this is v\\d.*\\n$`))
    }
  })

  test('cannot serve a build, which says so', async () => {
    const root = await makeProject('old-node')
    expect(await run(root, ['build'])).toMatchObject({ code: 0 })
    const { status, stderr } = spawnSync(oldNode ?? '', [join(root, 'dist/server/main.js')], plain)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^This build needs Node 24 or newer, and this is v\d.*\n$/)
  })
})
