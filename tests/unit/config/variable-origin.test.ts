import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadEnvFiles } from '../../../scripts/command/env-files.ts'
import { ConfigError } from '../../../src/server/config/config.ts'
import { configFault } from '../../../src/server/config/variable-origin.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const NAMES = ['MILL_SET', 'MILL_LOCAL', 'MILL_FILE'] as const

let temp: TempDir

beforeAll(async () => {
  temp = await makeTempDir('variable-origin')
})

afterAll(async () => {
  for (const name of NAMES) delete process.env[name]
  await temp.remove()
})

const fault = (variable: string): string => configFault(new ConfigError(variable, 'is wrong'))

test('a missing variable names the files that were read, and those that are not there', async () => {
  loadEnvFiles(temp.path)
  expect(fault('MILL_KEY')).toBe(
    `MILL_KEY: is wrong. Variables are read from the environment; ${temp.path} has no .env.local and no .env.`,
  )
  await writeFile(join(temp.path, '.env'), '')
  loadEnvFiles(temp.path)
  expect(fault('MILL_KEY')).toContain(`from the environment, then .env; ${temp.path} has no .env.local.`)
  await writeFile(join(temp.path, '.env.local'), '')
  loadEnvFiles(temp.path)
  expect(fault('MILL_KEY')).toContain(`Variables are read from the environment, then .env.local, then .env in `)
})

test('a wrong variable names the file that it is from, and what has priority', async () => {
  process.env['MILL_SET'] = 'environment'
  await writeFile(join(temp.path, '.env.local'), 'MILL_LOCAL=local\n')
  await writeFile(join(temp.path, '.env'), 'MILL_SET=file\nMILL_LOCAL=file\nMILL_FILE="a file"\n')
  loadEnvFiles(temp.path)
  expect(NAMES.map((name) => process.env[name])).toEqual(['environment', 'local', 'a file'])
  expect(fault('MILL_LOCAL')).toBe(`MILL_LOCAL: is wrong. MILL_LOCAL is from .env.local in ${temp.path}.`)
  expect(fault('MILL_FILE')).toBe(`MILL_FILE: is wrong. MILL_FILE is from .env in ${temp.path}.`)
  expect(fault('MILL_SET')).toBe('MILL_SET: is wrong. MILL_SET is from the environment, which has priority over .env.')
  expect(fault('PATH')).toBe('PATH: is wrong')
})
