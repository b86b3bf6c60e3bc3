import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const PROJECT = resolve(import.meta.dirname, '../../..')

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>
}

test('a production install has what the server loads by itself, and nothing that its bundle has', () => {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as LockFile
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true)
  expect(
    installed.filter((path) => /\/(?:@sentry\/.*|react(?:-dom)?|scheduler|express|zod|jose|undici)$/.test(path)),
  ).toEqual([])
  expect(installed.length).toBeLessThanOrEqual(20) // 18 when the list of dependencies was last looked at
})
