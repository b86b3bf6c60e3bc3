import type { RequestHandler } from 'express'
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exported, hello, temporaryFolder } from '../support/exported-site.tsx'
import { freePort } from '../support/free-ports.ts'
import { runNginx } from '../support/nginx.ts'
import { findProgram } from '../support/programs.ts'
import { moduleOf } from '../support/tiny-app.tsx'

describe('the folder', () => {
  const site = { routes: { '/': { page: hello } } }
  const MARKER = '.millrace-export.json'

  test('is left alone if it holds other files, but for those of hosts and desktops', async () => {
    const { folder, names, read } = await temporaryFolder()
    await exported(folder, site)
    await writeFile(join(folder, 'CNAME'), 'mills.example')
    await writeFile(join(folder, '_m/.DS_Store'), '')
    await exported(folder, site)
    expect(await read('CNAME')).toBe('mills.example')
    await mkdir(join(folder, 'photos'))
    await writeFile(join(folder, 'photos/mine.jpg'), 'mine')
    await expect(exported(folder, site)).rejects.toThrow(/holds photos\/mine\.jpg/)
    expect(await names()).toEqual(expect.arrayContaining(['photos/mine.jpg', '_m/.DS_Store']))
  })

  test.for([
    ...['../x', '..', '.', '', '/x', 'a//b', 'a/./b', 'a/../../x', 'a/', '..\\x', 7, null].map((name) =>
      JSON.stringify({ files: [name] }),
    ),
    'null',
    '{',
    '{}',
    '[]',
    '{"files":"x"}',
    '',
  ])('is left alone if what lists its files is damaged: %s', async (marker) => {
    const { folder, names } = await temporaryFolder()
    await mkdir(folder)
    await writeFile(join(folder, '../x'), 'precious')
    await writeFile(join(folder, MARKER), marker)
    await expect(exported(folder, site)).rejects.toMatchObject({ name: 'FolderFault' })
    expect(await names()).toEqual([MARKER])
    expect(await readFile(join(folder, '../x'), 'utf8')).toBe('precious')
  })

  test('loses no file through a symbolic link', async () => {
    const { folder, names, read } = await temporaryFolder()
    await mkdir(join(folder, '../elsewhere'), { recursive: true })
    await mkdir(folder)
    await writeFile(join(folder, '../elsewhere/mine'), 'mine')
    await symlink('../elsewhere', join(folder, 'link'))
    await writeFile(join(folder, MARKER), JSON.stringify({ files: ['link/mine', 'link'] }))
    await exported(folder, site)
    expect(await names()).toContain('index.html')
    await expect(read('link/mine')).rejects.toThrow('ENOENT')
    expect(await read('../elsewhere/mine')).toBe('mine')
  })

  test('keeps what has been put there meanwhile, and two exports at one time share nothing', async () => {
    const { folder, names, read } = await temporaryFolder()
    const old = { routes: { ...site.routes, '/old': { page: hello } } }
    await exported(folder, old)
    const putting = async () => writeFile(join(folder, 'old/mine.jpg'), 'mine')
    const withLoader = { routes: { '/': { page: hello, loader: moduleOf({ loader: putting }) } } }
    await expect(exported(folder, withLoader)).rejects.toThrow(/holds old\/mine\.jpg/)
    expect(await names()).toEqual(expect.arrayContaining(['old/index.html', 'old/mine.jpg']))
    await rm(join(folder, 'old/mine.jpg'))
    await Promise.all([exported(folder, site), exported(folder, site)])
    expect(JSON.parse(await read(MARKER))).toEqual({ files: (await names()).filter((name) => name !== MARKER) })
    expect(await readdir(folder)).not.toContain('old')
  })
})

test('a slug takes no name of what exports keep in the folder, or make for themselves', async () => {
  const { folder, names, read } = await temporaryFolder()
  await mkdir(folder)
  await writeFile(join(folder, 'CNAME'), 'example.com')
  const ids = ['CNAME', '.millrace-export.part-x', '.DS_Store', 'cname', 'fine']
  const routes = {
    '/[id]': { page: hello, loader: moduleOf({ paths: () => ids.map((id) => ({ id })) }) },
    '/below/[id]': { page: hello, loader: moduleOf({ paths: () => [{ id: 'CNAME' }] }) },
  }
  const { leftOut } = await exported(folder, { routes }, { isPartial: true })
  expect(leftOut.map(({ what }) => what)).toEqual([
    '/.DS_Store (/[id])',
    '/.millrace-export.part-x (/[id])',
    '/CNAME (/[id])',
    '/cname (/[id])',
  ])
  expect(await names()).toEqual(expect.arrayContaining(['CNAME', 'below/CNAME/index.html', 'fine/index.html']))
  expect(await read('CNAME')).toBe('example.com')
})

test('names that cannot be files, and errors of one page, are faults of that page', async () => {
  const { folder } = await temporaryFolder()
  const deep = join(folder, ...Array.from({ length: 6 }, () => 'y'.repeat(200)))
  const listing = (...ids: readonly unknown[]) => ({
    page: hello,
    loader: moduleOf({ paths: () => ids.map((id) => ({ id })) }),
  })
  const rest = (segments: number) => Array.from({ length: segments }, () => 'x'.repeat(200))
  const routes = {
    '/': { page: hello },
    '/404.html': { page: hello },
    '/404.html/below': { page: hello },
    '/a': { page: hello },
    '/a/all.data': { page: hello },
    '/cut': { page: hello },
    '/fold/[id]': listing('ς', 'σ', 'ſ', 's'),
    '/long/[...id]': listing(rest(14), rest(16)),
  }
  const cut: RequestHandler = ({ path, socket }, _res, next) => (path === '/cut' ? socket.destroy() : next())
  const { leftOut } = await exported(deep, { middleware: [cut], routes }, { isPartial: true })
  const reasons = leftOut.map(({ what, reason }) => `${what.replace(/x{9,}/g, 'x').slice(0, 20)}: ${reason}`)
  expect(reasons).toEqual([
    '/404.html: the export itself writes 404.html',
    '/404.html/below: 404.html would be both a file and a folder',
    "/a/all.data: 'all.data' is the file of its folder's data",
    '/cut: it cannot be asked for or written: socket hang up',
    expect.stringMatching(/^\/fold\/.*differs by case alone$/),
    expect.stringMatching(/^\/fold\/.*differs by case alone$/),
    expect.stringMatching(/^\/long\/x.*: it is longer than 3000 bytes|written: ENAMETOOLONG/),
    expect.stringMatching(/^\/long\/x.*: it is longer than 3000 bytes|written: ENAMETOOLONG/),
  ])
  expect(reasons.join()).toContain('3000')
  expect(reasons.join()).toContain('ENAMETOOLONG')
})

test.skipIf(findProgram('nginx') === undefined)('is served by nginx as the handbook says', async () => {
  const { folder, read } = await temporaryFolder()
  await exported(folder, { routes: { '/': { page: hello }, '/mills': { page: hello } } })
  await mkdir(join(folder, '_m/assets'))
  await writeFile(join(folder, '_m/assets/a.js'), '1')
  await chmod(join(folder, '..'), 0o755) // nginx's workers are another user where this one is root
  expect(await read('.nojekyll')).toBe('')

  const chapter = await readFile(join(import.meta.dirname, '../../docs/export.md'), 'utf8')
  const [atRoot = '', below = ''] = Array.from(chapter.matchAll(/```nginx\n(.*?)```/gs), ([, block]) => block ?? '')
  const headers = atRoot.match(/^  add_header.*$/gm) ?? []
  const belowPath = `server { listen 8080; absolute_redirect off;\n${headers.join('\n')}\n${below} }`
  const [port, other] = [await freePort(), await freePort()]
  const nginx = await runNginx(
    port,
    atRoot.replace('8080', `127.0.0.1:${port}`) + belowPath.replace('8080', `127.0.0.1:${other}`),
    { '/srv/site': folder },
  )
  onTestFinished(() => nginx[Symbol.asyncDispose]())
  for (const base of [nginx.origin, `http://127.0.0.1:${other}/shop`]) {
    const ask = async (path: string) => {
      const answer = await fetch(base + path)
      const html = (await answer.text()).match(/<h1>.*?<\/h1>/)?.[0]
      return [answer.status, html, answer.headers.get('x-content-type-options'), answer.headers.get('x-frame-options')]
    }
    expect(await ask('')).toEqual([200, '<h1>Hello</h1>', 'nosniff', 'DENY'])
    expect(await ask('/mills')).toEqual([200, '<h1>Hello</h1>', 'nosniff', 'DENY'])
    const missing = await ask('/nothing')
    expect(missing).toEqual([404, expect.any(String), 'nosniff', 'DENY'])
    expect(await ask('/.millrace-export.json')).toEqual(missing)
    expect(await ask('/_m/assets/a.js')).toEqual([200, undefined, 'nosniff', null])
  }
})

test('a slug takes no name of what configures servers of files', async () => {
  const { folder, names } = await temporaryFolder()
  const ids = ['.htaccess', '.HTACCESS', '.user.ini', 'Web.config', '_headers', '_redirects', 'fine']
  const routes = {
    '/[id]': { page: hello, loader: moduleOf({ paths: () => ids.map((id) => ({ id })) }) },
    '/below/[id]': { page: hello, loader: moduleOf({ paths: () => [{ id: '_headers' }, { id: '.htaccess' }] }) },
  }
  const { leftOut } = await exported(folder, { routes }, { isPartial: true })
  expect(leftOut.map(({ what }) => what).toSorted()).toEqual([
    '/.HTACCESS (/[id])',
    '/.htaccess (/[id])',
    '/.user.ini (/[id])',
    '/Web.config (/[id])',
    '/_headers (/[id])',
    '/_redirects (/[id])',
    '/below/.htaccess (/below/[id])',
  ])
  expect(await names()).toEqual(expect.arrayContaining(['below/_headers/index.html', 'fine/index.html']))
})
