import { execFileSync } from 'node:child_process'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SecretKeysError } from '../../../src/server/secrets/key-file.ts'
import { createSecrets, openSecrets, type Secrets } from '../../../src/server/secrets/secrets.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

let temp: TempDir
let folder = ''
let warnings: string[] = []
const children: ChildProcess[] = []

beforeEach(async () => {
  temp = await makeTempDir('secrets')
  folder = temp.path
  warnings = []
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await temp.remove()
})

const log = { warn: (_: object, message: string) => void warnings.push(message) } as never

/** The secrets of a server that has just been started. */
const start = (dataDir = folder, secretKeys: readonly string[] = []): Secrets =>
  openSecrets({ secretKeys, dataDir }, log)
const file = (): string => join(folder, 'secret-keys')

test('a server that needs no key writes nothing', () => {
  start(join(folder, 'data'))
  expect(readdirSync(folder)).toEqual([])
})

test('a server with SECRET_KEYS never touches the disk', async () => {
  const key = 'a key that was given by its owner'
  const secrets = start(folder, [key])
  expect(createSecrets([key]).verify('test', secrets.sign('test', 'text'))).toBe('text')
  expect(await secrets.decrypt('test', await secrets.encrypt('test', 'data', 60))).toBe('data')
  expect(readdirSync(folder)).toEqual([])
})

test('a key is made once and outlives the process', async () => {
  const dataDir = join(folder, 'not', 'there', 'yet')
  const before = start(dataDir)
  const signed = before.sign('test', 'text')
  const encrypted = await before.encrypt('test', 'data', 60)
  const content = readFileSync(join(dataDir, 'secret-keys'), 'utf8')
  expect(content).toMatch(/^[\w-]{43}\n$/)

  const after = start(dataDir)
  expect(after.verify('test', signed)).toBe('text')
  expect(await after.decrypt('test', encrypted)).toBe('data')
  expect(readFileSync(join(dataDir, 'secret-keys'), 'utf8')).toBe(content)
  expect(readdirSync(dataDir)).toEqual(['secret-keys'])
  expect(warnings).toEqual([])
})

test('the file is for its owner only', () => {
  start().sign('test', 'text')
  expect(statSync(file()).mode & 0o777).toBe(0o600)
})

test('two servers have keys of their own', () => {
  const signed = start(join(folder, 'a')).sign('test', 'text')
  expect(start(join(folder, 'b')).verify('test', signed)).toBeUndefined()
})

const PROCESSES_TIMEOUT_MS = 30_000 // for hangs only; five processes start slowly on a busy machine

test('processes that start at once agree on one key', { timeout: PROCESSES_TIMEOUT_MS }, async () => {
  const spawned = Array.from({ length: 5 }, () =>
    spawn(process.execPath, [join(import.meta.dirname, 'sign-in-child.ts'), join(folder, 'data')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  children.push(...spawned)
  const lines = spawned.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]())
  await Promise.all(lines.map((each) => each.next()))
  for (const child of spawned) child.stdin.write('go\n')
  const signed = await Promise.all(lines.map(async (each) => (await each.next()).value as string))
  await Promise.all(spawned.map((child) => child.exitCode ?? once(child, 'exit')))

  expect(signed[0]).toMatch(/^v1\./)
  expect(new Set(signed).size).toBe(1)
  expect(start(join(folder, 'data')).verify('test', signed[0] ?? '')).toBe('text')
  expect(readdirSync(join(folder, 'data'))).toEqual(['secret-keys'])
})

test('a key put before the others by hand makes what is new, and the others are still read', () => {
  const signed = start().sign('test', 'text')
  const fresh = Buffer.alloc(32, 7).toString('base64url')
  writeFileSync(file(), `${fresh}\r\n${readFileSync(file(), 'utf8')}\n`)
  const secrets = start()
  expect(secrets.verify('test', signed)).toBe('text')
  expect(createSecrets([fresh]).verify('test', secrets.sign('test', 'new'))).toBe('new')
})

test.for([
  ['is empty', ''],
  ['is blank', '\n \n'],
  ['was cut off', `${'k'.repeat(20)}\n`],
  ['holds something else', '{"keys": ["abc"]}\n'],
  ['has a broken second line', `${'k'.repeat(43)}\nshort\n`],
] as const)('a file that %s is refused by a message with its path, and left alone', async ([, content]) => {
  writeFileSync(file(), content)
  const secrets = start()
  expect(() => secrets.sign('test', 'text')).toThrow(SecretKeysError)
  expect(() => secrets.verify('test', 'text')).toThrow(file())
  await expect(secrets.encrypt('test', 'data', 60)).rejects.toThrow(/delete it and restart.*SECRET_KEYS/)
  await expect(secrets.decrypt('test', 'text')).rejects.toThrow(SecretKeysError)
  expect(readFileSync(file(), 'utf8')).toBe(content)
})

test('no message repeats what stands in a faulty file', () => {
  writeFileSync(file(), 'secret-canary\n')
  expect(() => start().sign('test', 'text')).toThrow(/^(?!.*canary).*line 1/)
})

test('a file that cannot be read is refused, and read again once it is mended', () => {
  mkdirSync(file())
  const secrets = start()
  expect(() => secrets.sign('test', 'text')).toThrow(/is not a regular file/)
  rmSync(file(), { recursive: true })
  expect(secrets.verify('test', secrets.sign('test', 'text'))).toBe('text')
})

test('where nothing can be written, the process has keys of its own and says so once', async () => {
  const dataDir = join(folder, 'data')
  symlinkSync(join(folder, 'nowhere', 'at', 'all'), dataDir)
  const secrets = start(dataDir)
  const signed = secrets.sign('test', 'text')
  expect(secrets.verify('test', signed)).toBe('text')
  expect(await secrets.decrypt('test', await secrets.encrypt('test', 'data', 60))).toBe('data')
  expect(warnings).toEqual([expect.stringContaining('SECRET_KEYS')])
  expect(start(dataDir).verify('test', signed)).toBeUndefined()
  expect(existsSync(join(folder, 'nowhere'))).toBe(false)
})

test('a pipe in its place is refused at once, and not waited for', () => {
  execFileSync('mkfifo', [file()])
  expect(() => start().sign('test', 'text')).toThrow(/is not a regular file/)
})
