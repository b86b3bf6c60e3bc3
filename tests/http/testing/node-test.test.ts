import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROJECT = resolve(import.meta.dirname, '../../..')

test("an application's own tests run in Node's test runner, without a build", async () => {
  const register = ['--conditions=millrace-source', '--import', 'millrace/testing/register']
  const args = [...register, '--test', 'tests/fixtures/node-test/app.test.ts']
  // Node's runner refuses to run inside of another.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT, env })
  expect(stdout).toMatch(/pass 2$/m)
  expect(stdout).toMatch(/fail 0$/m)
})
