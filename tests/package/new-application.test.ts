import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileName, OPTIONAL_PACKAGES } from '../../scripts/package/package-parts.ts'
import { CHROMIUM_ARGS, findChromium } from '../support/chromium.ts'
import {
  makeOutsideFolder,
  packedArchive,
  type CommandEnd,
  type OutsideFolder,
} from '../support/installed-application.ts'

const MOST_ARCHIVE_BYTES = 1_755_000 // of these, the handbook with its reference takes 235,000
const MOST_FILES = 28
const LONGEST_LINK = 500 // of a file that only hands an installed package on
const MOST_INSTALLED_BYTES = 110_000_000
const MOST_OUTPUT_BYTES = 4_040_000
const MOST_PRODUCTION_PACKAGES = 32
const MOST_PRODUCTION_BYTES = 35_000_000

/** The host's own copy; an application has none. */
const EXPRESS = resolve(import.meta.dirname, '../../node_modules/express')

const NPM_CI = ['npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline'] as const

/** @throws {Error} with what a command has said, where it has failed. */
function requireSuccess({ code, out, errors }: CommandEnd): void {
  if (code !== 0) throw new Error(`It ended with ${code}.\n${out}${errors}`)
}

/** The steps of a new user, in their order. */
describe('an application from the archive alone', () => {
  const state = { folder: undefined as OutsideFolder | undefined, archive: '' }
  const outside = (): OutsideFolder => {
    if (state.folder === undefined) throw new Error('There is no folder.')
    return state.folder
  }
  const inShop = (...command: readonly string[]) => outside().run(command, { cwd: 'shop' })
  const bytesOf = async (...args: readonly string[]) =>
    Number.parseInt((await outside().run(['du', '-sb', ...args])).out, 10)

  beforeAll(async () => {
    state.folder = await makeOutsideFolder()
    state.archive = await packedArchive(state.folder)
    requireSuccess(await state.folder.run(['tar', 'xzf', state.archive]))
  })

  afterAll(async () => {
    await state.folder?.[Symbol.asyncDispose]()
  })

  const command = (...args: readonly string[]): readonly string[] => [
    process.execPath,
    join(outside().path, 'package/bin/millrace.js'),
    ...args,
  ]

  test('the archive is small, and what it publishes resolves everywhere', async () => {
    expect((await stat(state.archive)).size).toBeLessThan(MOST_ARCHIVE_BYTES)
    const bin = join(import.meta.dirname, '../../node_modules/.bin')
    const publint = await outside().run([join(bin, 'publint'), state.archive, '--strict'])
    expect(publint).toMatchObject({ code: 0, out: expect.stringContaining('All good!') })
    const exclude = ['--exclude-entrypoints', 'internal/command', 'internal/packages/*']
    const attw = await outside().run([join(bin, 'attw'), state.archive, '--profile', 'esm-only', ...exclude])
    requireSuccess(attw)
  })

  test('what is bundled in it needs no optional package', async () => {
    const lib = join(outside().path, 'package/lib')
    const folders = ['packages', 'vendor'].map(async (folder) =>
      (await readdir(join(lib, folder))).map((name) => join(lib, folder, name)),
    )
    const files = (await Promise.all(folders)).flat().filter((name) => name.endsWith('.js'))
    const texts = await Promise.all(files.map((name) => readFile(name, 'utf8')))
    expect(texts.filter((text) => text.length > LONGEST_LINK).length).toBeGreaterThan(10)
    for (const name of OPTIONAL_PACKAGES) {
      const path = `millrace/internal/packages/${fileName(name)}`
      expect(files.filter((_, at) => texts[at]?.includes(path))).toEqual([])
    }
  })

  test('is made without a question, in few files, with its lock file', async () => {
    const made = await outside().run(command('new', 'shop', '--package', state.archive))
    requireSuccess(made)
    expect(made.out).toContain('cd shop')
    const entries = await readdir(join(outside().path, 'shop'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    expect(files.length).toBeLessThanOrEqual(MOST_FILES)
    expect(files.map(({ name }) => name)).toContain('package-lock.json')
  })

  test('installs from its lock file in little space, and its types hold, those of the package included', async () => {
    requireSuccess(await inShop(...NPM_CI))
    expect(await bytesOf('shop/node_modules')).toBeLessThan(MOST_INSTALLED_BYTES)
    expect(await inShop('tsc', '--skipLibCheck', 'false')).toEqual({ code: 0, out: '', errors: '' })
  })

  test('passes its own tests, against its own small build', async () => {
    const tested = await inShop('npm', 'test')
    requireSuccess(tested)
    expect(tested.out).toMatch(/^ℹ fail 0$/m)
    expect(tested.out).not.toContain('brotli')
    // Not what servers have kept of their own compilation since.
    expect(await bytesOf('--exclude=cache', 'shop/dist')).toBeLessThan(MOST_OUTPUT_BYTES)
  })

  test('measures which of its sources the tests have run, in the lines of these files', async () => {
    const shop = join(outside().path, 'shop')
    const { scripts } = JSON.parse(await readFile(join(shop, 'package.json'), 'utf8'))
    const [, measure = ''] = scripts['test:coverage'].split(' && ') // the build is there
    const file = join(shop, 'src/app/guestbook/page.tsx')
    const former = await readFile(file, 'utf8')
    const lines = former.trimEnd().split('\n').length
    await writeFile(file, `${former.trimEnd()}\n\nif (Math.random() > 2) {\n  throw new Error('never')\n}\n`)
    const measured = await inShop('sh', '-c', measure)
    await writeFile(file, former)
    requireSuccess(measured)
    expect(measured.out).toMatch(new RegExp(`^ℹ {4}page\\.tsx .*\\| ${lines + 3}-${lines + 4}$`, 'm'))
    expect(measured.out).toMatch(/^ℹ {4}loader\.server\.ts +\| 100\.00 \|/m)
    expect(measured.out).not.toContain('chunk-')
  })

  test('is tested in vitest by the same kit', async () => {
    const shop = join(outside().path, 'shop')
    const spec = `import { expect, test } from 'vitest'
import { createTestApp } from 'millrace/testing'
import application from './src/app/app.ts'

test('the form works without JavaScript', async () => {
  await using app = createTestApp(application)
  const page = await app.visitor().get('/guestbook')
  const signed = await page.submit('form', { name: 'Ada' })
  expect(signed.text('li')).toBe('Ada')
})
`
    await writeFile(join(shop, 'guestbook.spec.ts'), spec)
    // This project's own: an installation of it takes longer than all other steps together.
    await symlink(join(import.meta.dirname, '../../node_modules/vitest'), join(shop, 'node_modules/vitest'))
    try {
      const tested = await inShop(process.execPath, 'node_modules/vitest/vitest.mjs', 'run', 'guestbook.spec.ts')
      requireSuccess(tested)
      expect(tested.out).toContain('1 passed')
    } finally {
      await rm(join(shop, 'guestbook.spec.ts'))
      await rm(join(shop, 'node_modules/vitest'))
    }
  })

  test('is served by few packages, in little space', async () => {
    const shop = join(outside().path, 'shop')
    await outside().run(['mkdir', 'production'])
    const files = ['package.json', 'package-lock.json', 'dist', basename(state.archive)]
    await outside().run(['cp', '-r', ...files.map((name) => join(shop, name)), 'production'])
    const installed = await outside().run([...NPM_CI, '--omit=dev', '--ignore-scripts'], { cwd: 'production' })
    requireSuccess(installed)
    const lock = JSON.parse(await readFile(join(outside().path, 'production/node_modules/.package-lock.json'), 'utf8'))
    expect(Object.keys(lock.packages).length).toBeLessThanOrEqual(MOST_PRODUCTION_PACKAGES)
    expect(await bytesOf('production/node_modules')).toBeLessThan(MOST_PRODUCTION_BYTES)

    await using server = await outside().serve(['millrace', 'serve'], { cwd: 'production' })
    const page = await fetch(`${server.origin}/mills/2`)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<h1>Lower mill</h1>')
    expect(await server.stop()).toBe(0)
  })

  test('works where packages see their own dependencies only, as pnpm lays them out', async () => {
    await outside().run(['mkdir', 'strict'])
    const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'tests']
    const copied = [...files, basename(state.archive)].map((name) => join(outside().path, 'shop', name))
    await outside().run(['cp', '-r', ...copied, 'strict'])
    // npm hands this setting on to the scripts of packages, and that of `node` calls npm: endlessly.
    const layout = ['--install-strategy=linked', '--ignore-scripts']
    requireSuccess(await outside().run([...NPM_CI, ...layout], { cwd: 'strict' }))
    expect(await readdir(join(outside().path, 'strict/node_modules'))).not.toContain('pino')
    expect(await outside().run(['tsc'], { cwd: 'strict' })).toMatchObject({ code: 0, out: '' })
    const built = await outside().run(['millrace', 'build'], { cwd: 'strict' })
    requireSuccess(built)
    expect(built.out).not.toContain('.store')
    await using server = await outside().serve(['millrace', 'serve'], { cwd: 'strict' })
    expect(await (await fetch(`${server.origin}/mills/2`)).text()).toContain('<h1>Lower mill</h1>')
    expect(await (await fetch(`${server.origin}/guestbook`)).text()).toContain('<h1>Guestbook</h1>')

    await using dev = await outside().serve(['millrace', 'dev'], { cwd: 'strict' })
    const page = await (await fetch(`${dev.origin}/mills/2`)).text()
    const scripts = [...page.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(([, path = '']) => path)
    expect(scripts.length).toBeGreaterThan(2)
    for (const path of scripts) expect((await fetch(dev.origin + path)).status).toBe(200)
  })

  test.runIf(findChromium() !== undefined)(
    'a save updates an open page of the development server, and keeps its state',
    async () => {
      await using server = await outside().serve(['millrace', 'dev'], { cwd: 'shop' })
      const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: [...CHROMIUM_ARGS] })
      try {
        const page = await browser.newPage({ baseURL: server.origin })
        await page.goto('/guestbook')
        await page.getByLabel('Your name').fill('Ada')
        await page.getByRole('button', { name: 'Sign' }).click()
        await page.getByText('Thank you, Ada.').waitFor()
        const file = join(outside().path, 'shop/src/app/guestbook/page.tsx')
        const source = await readFile(file, 'utf8')
        await writeFile(file, source.replace('<h1>Guestbook</h1>', '<h1>Visitors</h1>'))
        await page.getByRole('heading', { name: 'Visitors' }).waitFor()
        expect(await page.getByText('Thank you, Ada.').count()).toBe(1)
        expect(await page.evaluate(() => getComputedStyle(document.body).margin)).toBe('0px')
        await writeFile(file, source)
      } finally {
        await browser.close()
      }
    },
  )

  test('uses plugins, aliases and constants of its config and paths of its compiler, built and in development', async () => {
    const shop = join(outside().path, 'shop')
    const config = `import { defineConfig } from 'millrace/build'

const shout = { name: 'shout', setup(build) {
  build.onLoad({ filter: /\\.shout$/ }, () => ({ contents: 'export default () => "SHOUTED"', loader: 'js' }))
} }

export default defineConfig({
  plugins: { browser: [shout], server: [shout] },
  alias: { '@words': './src/words.ts' },
  define: { EDITION: 'pro' },
})
`
    const page = `import Shout from './words.shout'
import { word } from '@words'
import { article } from '@/article'

declare const EDITION: string

export default function HomePage() {
  return <p data-testid="all">{article} {word} {EDITION} <Shout /></p>
}
`
    const home = join(shop, 'src/app/home-page.tsx')
    const former = await readFile(home, 'utf8')
    await writeFile(join(shop, 'millrace.config.ts'), config)
    await writeFile(join(shop, 'src/words.ts'), `export const word: string = 'word'\n`)
    await writeFile(join(shop, 'src/app/words.shout'), 'text')
    await writeFile(home, page)
    await writeFile(join(shop, 'src/article.ts'), `export const article: string = 'a'\n`)
    const tsconfig = join(shop, 'tsconfig.json')
    const formerTypes = await readFile(tsconfig, 'utf8')
    await writeFile(tsconfig, formerTypes.replace('"target"', '"paths": { "@/*": ["./src/*"] }, // ours\n    "target"'))
    const words =
      /data-testid="all">a(?:<!-- -->)? (?:<!-- -->)?word(?:<!-- -->)? (?:<!-- -->)?pro(?:<!-- -->)? (?:<!-- -->)?SHOUTED</

    const built = await inShop('millrace', 'build')
    requireSuccess(built)
    await using served = await outside().serve(['millrace', 'serve'], { cwd: 'shop' })
    expect(await (await fetch(served.origin)).text()).toMatch(words)

    await using dev = await outside().serve(['millrace', 'dev'], { cwd: 'shop' })
    expect(await (await fetch(dev.origin)).text()).toMatch(words)
    const module = await (await fetch(`${dev.origin}/_m/assets/src/app/home-page.tsx`)).text()
    expect(module).toContain('SHOUTED')
    expect(module).toContain('"pro"')
    await writeFile(home, former)
    await writeFile(tsconfig, formerTypes)
  })

  test('is mounted in an Express 5 server with a session and a parser of its own', async () => {
    const shop = join(outside().path, 'shop')
    const host = `import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { millrace } from 'millrace/server'

const sessions = new Map()
const host = express()
host.use((req, res, next) => {
  const sid = /sid=([\\w-]+)/.exec(req.headers.cookie ?? '')?.[1] ?? randomUUID()
  req.session = sessions.get(sid) ?? { visits: 0 }
  req.session.visits += 1
  sessions.set(sid, req.session)
  res.cookie('sid', sid, { httpOnly: true })
  next()
})
host.use(express.urlencoded({ extended: true }))
host.get('/visits', (req, res) => res.send('visits: ' + req.session.visits))
const server = createServer(host)
const shop = await millrace({ dist: new URL('./mounted/', import.meta.url), server })
host.use('/shop', shop)
host.use((req, res) => res.status(404).send('host has no ' + req.originalUrl))
server.listen(0, '127.0.0.1', () => console.log('http://localhost:' + server.address().port))
process.once('SIGTERM', () => shop.stop().then(() => process.exit()))
`
    const config = join(shop, 'millrace.config.ts')
    const former = await readFile(config, 'utf8').catch(() => undefined)
    await writeFile(config, `export default { basePath: '/shop' }\n`)
    requireSuccess(await inShop('millrace', 'build', '--out', 'mounted'))
    await (former === undefined ? rm(config) : writeFile(config, former))
    await writeFile(join(shop, 'host.mjs'), host)
    await symlink(EXPRESS, join(shop, 'node_modules/express'))

    await using served = await outside().serve(['node', 'host.mjs'], { cwd: 'shop' })
    const visit = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(served.origin + path, init)
      return { status: response.status, text: await response.text(), cookie: response.headers.get('set-cookie') ?? '' }
    }
    const first = await visit('/shop/guestbook')
    expect(first).toMatchObject({ status: 200, text: expect.stringContaining('href="/shop/_m/assets/') })
    const action = /<form[^>]* action="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const hidden = [...first.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const body = new URLSearchParams([...hidden.map(([, name = '', value = '']) => [name, value]), ['name', 'Ada']])
    const { cookie } = first
    const signed = await visit(new URL(action, `${served.origin}/shop/guestbook`).href.slice(served.origin.length), {
      method: 'POST',
      body,
      headers: { Origin: served.origin, Cookie: /^[^;]+/.exec(cookie)?.[0] ?? '' },
    })
    expect(signed.text).toMatch(/<li>Ada<\/li>/)
    expect(await visit('/shop/nowhere')).toMatchObject({ status: 404, text: 'host has no /shop/nowhere' })
    expect((await visit('/visits')).text).toBe('visits: 1')
    expect(await served.stop()).toBe(0)
  })

  test('may begin with one page, and without an installation', async () => {
    requireSuccess(
      await outside().run(command('new', 'small', '--minimal', '--no-install', '--package', state.archive)),
    )
    const files = await readdir(join(outside().path, 'small'))
    expect(files).not.toContain('package-lock.json')
    expect(files).not.toContain('node_modules')
    await symlink(join(outside().path, 'shop/node_modules'), join(outside().path, 'small/node_modules'))
    requireSuccess(await outside().run(['tsc'], { cwd: 'small' }))
    requireSuccess(await outside().run(['millrace', 'build'], { cwd: 'small' }))
  })

  test('has its table checked by the compiler', async () => {
    const home = join(outside().path, 'shop/src/app/home-page.tsx')
    const former = await readFile(home, 'utf8')
    await writeFile(home, former.replace('href="/mills/1"', 'href="/mils/1"'))
    const { code, out } = await inShop('tsc')
    await writeFile(home, former)
    expect([code, out]).toEqual([expect.any(Number), expect.stringContaining('/mils/1')])
    expect(code).not.toBe(0)
  })

  describe('a fault of its user ends in one line and exit code 1:', () => {
    const faults: readonly (readonly [string, readonly string[], RegExp])[] = [
      ['a folder that is not empty', ['new', 'shop'], /^.*shop is not empty\. Choose an empty folder/],
      ['an archive that is not there', ['new', 'other', '--package', 'none.tgz'], /^--package none\.tgz is neither/],
      ['an unknown command', ['biuld'], /^biuld is not a command of millrace\. The commands are new, dev, build/],
    ]
    test.for(faults)('%s', async ([, args, message]) => {
      const { code, out, errors } = await outside().run(command(...args))
      expect([code, out]).toEqual([1, ''])
      expect(errors.trim()).toMatch(message)
      expect(errors.trim().split('\n')).toHaveLength(1)
      expect(await readdir(outside().path)).not.toContain('other')
    })

    const configs: readonly (readonly [string, string, RegExp])[] = [
      [
        'an unknown key',
        `{ plugin: [] }`,
        /^millrace\.config\.ts: unknown key 'plugin'; there are app, out, basePath, /,
      ],
      ['a base path without a slash', `{ basePath: 'shop' }`, /^millrace\.config\.ts: basePath: starts with a slash/],
      [
        'a plugin that is none',
        `{ plugins: { server: [1] } }`,
        /^millrace\.config\.ts: plugins\.server\.0: is not an esbuild plugin/,
      ],
    ]
    test.for(configs)('%s in the config', async ([, config, message]) => {
      const former = await readFile(join(outside().path, 'shop/millrace.config.ts'), 'utf8')
      await writeFile(join(outside().path, 'shop/millrace.config.ts'), `export default ${config}\n`)
      const { code, errors } = await inShop('millrace', 'build')
      await writeFile(join(outside().path, 'shop/millrace.config.ts'), former)
      expect(code).toBe(1)
      expect(errors.trim()).toMatch(message)
      expect(errors.trim().split('\n')).toHaveLength(1)
    })

    test('a store without its client', async () => {
      const env = { REDIS_URL: 'redis://127.0.0.1:1', SECRET_KEYS: 'a'.repeat(43) }
      const { code, errors } = await outside().run(['millrace', 'serve'], { cwd: 'production', env })
      expect([code, errors]).toEqual([
        1,
        'REDIS_URL: needs @redis/client, which is not installed: npm install @redis/client\n',
      ])
    })

    test('a command whose tool is not installed', async () => {
      const { code, errors } = await outside().run(['millrace', 'build'], { cwd: 'production' })
      expect(code).toBe(1)
      expect(errors).toMatch(/^esbuild is not installed\. Install it: npm install --save-dev esbuild@\^\d\S*\n$/)
    })
  })
})
