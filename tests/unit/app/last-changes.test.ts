import { afterEach, describe, expect, test, vi } from 'vitest'
import { readLastChanges } from '../../../src/app/docs/last-changes.server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

afterEach(() => vi.unstubAllEnvs())

const LOG = '\x002026-11-26\n\nroutes.md\nreference/über.md\n\x002026-11-02\n\nroutes.md\nloaders.md\n'

/** With a git that prints this; the machine of a test may have none. */
const changesWith = (isShallow: string) =>
  readLastChanges('docs', (_folder, [command]) => Promise.resolve(command === 'log' ? LOG : `${isShallow}\n`))

describe('the last change of a chapter', () => {
  test('is the day of the latest commit that has its file', async () => {
    expect(Object.fromEntries(await changesWith('false'))).toEqual({
      'routes.md': '2026-11-26',
      'reference/über.md': '2026-11-26',
      'loaders.md': '2026-11-02',
    })
  })

  test('is not known in a clone without the history, outside of a repository, and without git', async () => {
    expect(await changesWith('true')).toEqual(new Map())
    expect(await readLastChanges('docs', () => Promise.reject(new Error('not a git repository')))).toEqual(new Map())
    await using empty = await makeTempDir('no-git')
    vi.stubEnv('PATH', empty.path)
    expect(await readLastChanges(empty.path)).toEqual(new Map())
  })
})
