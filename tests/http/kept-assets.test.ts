import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { copyBuild, type BuildCopy } from '../support/build-copy.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { makeTempDir } from '../support/temp-dir.ts'

async function copy(buildId: string): Promise<BuildCopy> {
  const build = await copyBuild(buildId)
  onTestFinished(() => build[Symbol.asyncDispose]())
  return build
}

const started = ({ entry }: BuildCopy, env: Readonly<Record<string, string>>): Promise<BuiltServer> =>
  serverOfTest({ entry, env })

const get = ({ port }: BuiltServer, path: string, headers: Readonly<Record<string, string>> = {}) =>
  requestRaw(port, getRequest(path, { Connection: 'close', ...headers }))

describe('instances that share ASSETS_DIR', () => {
  test('have the files of each other’s builds, before and after the other is gone', async () => {
    const shared = await makeTempDir('assets')
    onTestFinished(() => shared.remove())
    const [old, fresh] = await Promise.all([copy('0'.repeat(16)), copy('f'.repeat(16))])
    const first = await started(old, { ASSETS_DIR: shared.path })
    // It has looked once, and in vain, before the other is there.
    expect((await get(first, fresh.ownAsset)).status).toBe(404)
    const second = await started(fresh, { ASSETS_DIR: shared.path })
    await expect.poll(async () => (await get(first, fresh.ownAsset)).status, { timeout: 20_000 }).toBe(200)
    const answer = await get(second, old.ownAsset)
    expect([answer.status, answer.text]).toEqual([200, `// of build ${old.buildId}\n`])
    expect(answer.header('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.header('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.header('x-content-type-options')).toBe('nosniff')

    await first.stop()
    await old[Symbol.asyncDispose]()
    expect((await get(second, old.ownAsset)).status).toBe(200)
    expect((await readdir(shared.path)).toSorted()).toEqual([old.buildId, fresh.buildId])
  })

  test('keep nothing of what is older than KEEP_ASSETS_DAYS', async () => {
    const shared = await makeTempDir('assets')
    onTestFinished(() => shared.remove())
    const [old, fresh] = await Promise.all([copy('0'.repeat(16)), copy('f'.repeat(16))])
    await (await started(old, { ASSETS_DIR: shared.path })).stop()
    const mark = join(shared.path, old.buildId, '.last-used')
    const lastUsed = Date.parse(await readFile(mark, 'utf8'))
    expect(Date.now() - lastUsed).toBeLessThan(60_000)
    const server = await started(fresh, { ASSETS_DIR: shared.path, KEEP_ASSETS_DAYS: '0' })
    expect((await get(server, old.ownAsset)).status).toBe(404)
    expect(await readdir(shared.path)).toEqual([fresh.buildId])
  })

  test('go without it where it cannot be written, and say so once', async () => {
    const server = await started(await copy('0'.repeat(16)), { ASSETS_DIR: '/dev/null/assets', LOG_LEVEL: 'warn' })
    expect((await get(server, '/')).status).toBe(200)
    expect((await get(server, '/_m/assets/none.js')).status).toBe(404)
    await server.stop()
    expect(server.logs()).toMatchObject([{ msg: 'the files of this build cannot be kept in ASSETS_DIR' }])
  })
})

test('a server whose files are taken away answers 404, names no folder, and lets nobody keep that', async () => {
  const build = await copy('0'.repeat(16))
  const server = await started(build, {})
  await rm(join(build.entry, '../../public'), { recursive: true })
  const answer = await get(server, build.ownAsset, { 'Accept-Encoding': 'br' })
  expect([answer.status, answer.text, answer.header('cache-control')]).toEqual([404, 'No such file\n', 'no-store'])
  expect(answer.header('content-encoding')).toBeUndefined()
})
