import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { NO_ASSETS } from '../../../src/server/assets/manifest.ts'
import { segmentFilesPath } from '../../../src/shared/protocol/segment-files.ts'
import { tinyApp } from '../../support/tiny-app.tsx'
import { buildFault, copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOME = 'src/app/home-page.tsx'

async function fixture(): Promise<FixtureProject> {
  const project = await copyProject()
  onTestFinished(() => project.remove())
  return project
}

/** Builds, and tells the public path of the home page's own chunk. */
async function build(project: FixtureProject, env: Readonly<Record<string, string>> = {}) {
  const { manifest } = await buildApplication(project.options, env)
  return { manifest, chunk: manifest.segments['/']?.['page']?.scripts[0] ?? '' }
}

async function changeHome(project: FixtureProject, word: string): Promise<void> {
  const text = await project.read(HOME)
  await project.change({ [HOME]: `${text}\nexport const ${word} = true\n` })
}

/** A server of the last build. */
function serve(project: FixtureProject, days?: string) {
  const { out } = project.options
  const { app } = tinyApp({
    routes: {},
    environment: days === undefined ? {} : { KEEP_ASSETS_DAYS: days },
    assets: { manifest: NO_ASSETS, folder: join(out, 'public'), former: join(out, 'former') },
  })
  onTestFinished(() => app.dispose())
  return request(app)
}

test('a page of the former build gets its files after the next builds, in all their forms', async () => {
  const project = await fixture()
  const first = await build(project)
  const name = first.chunk.replace('/_m/assets/', '')
  const code = await project.read(`dist/public/${name}`)
  for (const word of ['second', 'third']) {
    await changeHome(project, word)
    await build(project)
  }
  expect(await project.list('dist/public')).not.toContain(name)

  for (const encoding of ['identity', 'br', 'gzip']) {
    const answer = await serve(project).get(first.chunk).set('Accept-Encoding', encoding)
    expect([answer.status, answer.headers['content-encoding'] ?? 'identity']).toEqual([200, encoding])
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    if (encoding !== 'br') expect(answer.text).toBe(code)
  }
  // What the client router asks its routes' files by.
  const list = await serve(project).get(segmentFilesPath(first.manifest.buildId))
  expect([list.status, list.type]).toEqual([200, 'application/json'])
  const missing = await serve(project).get('/_m/assets/of-no-build.js')
  expect([missing.status, missing.type, missing.headers['cache-control']]).toEqual([404, 'text/plain', 'no-store'])
})

test('each file is kept once, and the present build none twice', async () => {
  const project = await fixture()
  const first = await build(project)
  await changeHome(project, 'second')
  const second = await build(project)
  const kept = await project.list('dist/former')
  const present = new Set(await project.list('dist/public'))
  const files = kept.map((path) => path.split('/').at(-1) ?? '').filter((name) => name !== '.last-used')
  expect(files).toContain(first.chunk.replace('/_m/assets/', ''))
  expect(files.filter((name) => present.has(name))).toEqual([])
  expect(new Set(files).size).toBe(files.length)
  expect(kept.some((path) => path.startsWith(second.manifest.buildId))).toBe(false)
})

test('equal sources keep nothing, and what is built again is no former build', async () => {
  const project = await fixture()
  const first = await build(project)
  await build(project)
  expect(await project.list('dist/former').catch(() => [])).toEqual([])
  const before = await project.read(HOME)
  await changeHome(project, 'second')
  const second = await build(project)
  await project.change({ [HOME]: before })
  await build(project)
  const builds = new Set((await project.list('dist/former')).map((path) => path.split('/')[0]))
  expect(builds).toEqual(new Set([second.manifest.buildId]))
  expect(builds).not.toContain(first.manifest.buildId)
})

test('KEEP_ASSETS_DAYS is the time: past it the next build drops the files, and a server does not serve them', async () => {
  const project = await fixture()
  const first = await build(project)
  await changeHome(project, 'second')
  await build(project)
  const mark = join(project.options.out, 'former', first.manifest.buildId, '.last-used')
  expect(Date.now() - Date.parse(await readFile(mark, 'utf8'))).toBeLessThan(60_000)
  await writeFile(mark, new Date(Date.now() - 3 * 86_400_000).toISOString())
  expect((await serve(project, '4').get(first.chunk)).status).toBe(200)
  expect((await serve(project, '3').get(first.chunk)).status).toBe(404)
  await changeHome(project, 'third')
  await build(project, { KEEP_ASSETS_DAYS: '3' })
  expect((await serve(project, '4').get(first.chunk)).status).toBe(404)
})

test('with KEEP_ASSETS_DAYS=0 nothing is kept, and a wrong value stops the build', async () => {
  const project = await fixture()
  const first = await build(project)
  await changeHome(project, 'second')
  await build(project, { KEEP_ASSETS_DAYS: '0' })
  expect((await serve(project).get(first.chunk)).status).toBe(404)
  expect(await buildFault({}, { KEEP_ASSETS_DAYS: 'a week' })).toContain('KEEP_ASSETS_DAYS: "a week" is refused')
})

test('a server that goes on while its build is replaced still has its files', async () => {
  const project = await fixture()
  const first = await build(project)
  const running = serve(project)
  expect((await running.get(first.chunk)).status).toBe(200)
  await changeHome(project, 'second')
  await build(project)
  const answer = await running.get(first.chunk).set('Accept-Encoding', 'gzip')
  expect([answer.status, answer.headers['content-encoding']]).toEqual([200, 'gzip'])
})
