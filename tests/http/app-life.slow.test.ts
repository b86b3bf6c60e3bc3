import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { makeTempDir } from '../support/temp-dir.ts'

let entry = ''
beforeAll(async () => {
  const temp = await makeTempDir('life-app')
  const out = await buildFixture('life-app', temp)
  entry = join(out, 'server/main.js')
  return () => temp.remove()
})

const started = (env: Readonly<Record<string, string>> = {}): Promise<BuiltServer> => serverOfTest({ entry, env })

/** What the application and the end of the process have said, in order. */
const told = (server: BuiltServer): readonly unknown[] =>
  server.logs().flatMap(({ msg }) => (/pool|jobs|answered|work|stopped/.test(String(msg)) ? [msg] : []))

describe('what an application does beside answering', () => {
  test('begins before the first page, and ends when the last answer is over', async () => {
    const server = await started()
    expect(server.logs()[0]).toMatchObject({ msg: 'pool opened', dataDir: server.dataDir })
    const answer = requestRaw(server.port, getRequest('/?delay=300'))
    await expect.poll(() => server.logs().some(({ msg }) => msg === 'asked')).toBe(true)
    await server.stop(0)
    expect((await answer).status).toBe(200)
    expect(told(server)).toEqual(['pool opened', 'no further jobs', 'answered', 'pool closed', 'stopped'])
  })

  test('waits for work that an answer has left behind, and the visitor does not', async () => {
    const server = await started()
    await requestRaw(server.port, getRequest('/?after=500'))
    await server.stop(0)
    expect(told(server)).toEqual([
      'pool opened',
      'work begun',
      'no further jobs',
      'work done',
      'pool closed',
      'stopped',
    ])
  })

  test('begins and ends in each worker', async () => {
    const server = await started({ WORKERS: '2' })
    await expect.poll(() => server.logs().filter(({ msg }) => msg === 'pool opened')).toHaveLength(2)
    await server.stop(0)
    const opened = server.logs().filter(({ msg }) => msg === 'pool opened')
    expect(opened.map(({ worker }) => worker)).toEqual([1, 2])
    expect(server.logs().filter(({ msg }) => msg === 'pool closed')).toHaveLength(2)
  })

  test('ends the start where it fails, with its message', async () => {
    await expect(started({ LIFE: 'no start' })).rejects.toThrow(
      /exit code 1[^]*the application could not be started[^]*^start of app\.ts: the pool cannot be opened$/m,
    )
  })

  test.for(['no stop', 'endless stop'])('ends the process with code 1 and in time: %s', async (LIFE) => {
    const server = await started({ LIFE, SHUTDOWN_GRACE_MS: '1000' })
    await server.stop(1)
    expect(told(server)).toContain('no further jobs')
    expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped', orderly: false })
    const failed = server.logs().filter(({ msg }) => String(msg).startsWith('the application could not'))
    expect(failed).toHaveLength(LIFE === 'no stop' ? 1 : 0)
  })
})
