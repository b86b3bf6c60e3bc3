import { existsSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { startBuiltServer } from '../../support/built-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const entry = 'tests/fixtures/tiny-server/main.js'

test('a server is handed over once it is ready, with its log and a data folder of its own', async () => {
  vi.stubEnv('SECRET_OF_THE_DEVELOPER', 'x')
  const server = await startBuiltServer({ entry, env: { SCRIPT: 'late' } })
  expect((await fetch(server.origin)).status).toBe(200)
  expect(existsSync(server.dataDir)).toBe(true)
  expect(server.logs()).toEqual([{ level: 30, dataDir: server.dataDir }])
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  expect(server.logs().at(-1)).toEqual({ asked: 4 })
  expect(existsSync(server.dataDir)).toBe(false)
})

test('a data folder that the test brought is left alone', async () => {
  await using folder = await makeTempDir()
  const server = await startBuiltServer({ entry, dataDir: folder.path })
  await server.stop()
  expect(existsSync(folder.path)).toBe(true)
})

test('a server that dies at the start says why', async () => {
  await expect(startBuiltServer({ entry, env: { SCRIPT: 'dies' } })).rejects.toThrow(/exit code 1[^]*PORT: bad value/)
})

test('a stop with another exit code than expected fails the test', async () => {
  const server = await startBuiltServer({ entry, env: { SCRIPT: 'stumbles' } })
  await expect(server.stop()).rejects.toThrow(/exit code 3/)
  expect(await server.stop(3)).toEqual({ code: 3, signal: null })
})

test('a killed server is seen to have been killed', async () => {
  const server = await startBuiltServer({ entry })
  server.kill('SIGKILL')
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' })
})
