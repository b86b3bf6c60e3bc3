import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { staleness } from '../../../scripts/build/output/build-info.ts'
import { copyProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000 })

test('a build is made anew exactly when there is none or a source of it has changed', async () => {
  await using project = await copyProject()
  const env = { PUBLIC_TITLE: 'one' }
  const { options } = project
  expect(staleness(options, env)).toBe('missing')
  await buildApplication(options, env)
  expect(staleness(options, env)).toBeUndefined()
  expect(staleness(options, { ...env, PUBLIC_UNKNOWN: 'no source names it' })).toBeUndefined()

  expect(staleness(options, {})).toBe('stale')
  expect(staleness(options, { PUBLIC_TITLE: 'two' })).toBe('stale')
  expect(staleness({ ...options, app: join(options.root, 'src/other') }, env)).toBe('stale')
  const changed: (string | undefined)[] = []
  const restored: (string | undefined)[] = []
  for (const file of ['src/app/base.css', 'src/app/logo.svg', 'src/server/main.ts', 'package.json']) {
    const text = await project.read(file)
    await project.change({ [file]: `${text}\n` })
    changed.push(staleness(options, env))
    await project.change({ [file]: text })
    restored.push(staleness(options, env))
  }
  expect(changed).toEqual(['stale', 'stale', 'stale', 'stale'])
  expect(restored).toEqual([undefined, undefined, undefined, undefined])
  await project.change({ 'src/app/new.ts': '' })
  expect(staleness(options, env)).toBe('stale')
  await project.change({ 'src/app/new.ts': undefined })

  await rm(join(options.out, 'server/main.js'))
  expect(staleness(options, env)).toBe('missing')
})

test('sources of an application outside src count too', async () => {
  await using project = await copyProject({ 'other/app.ts': '' })
  const options = { ...project.options, app: join(project.options.root, 'other') }
  await project.change({
    'dist/server/main.js': '',
    'dist/build-info.json': JSON.stringify({ inputHash: 'of another time' }),
  })
  expect(staleness(options, {})).toBe('stale')
})
