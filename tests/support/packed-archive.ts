/** Global setup of `tests/package`: the project is packed once, since packing writes `lib`, and files run side by side. */
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { runCommand } from '../../scripts/checks/run-command.ts'
import { makeTempDir } from './temp-dir.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The packed archive's path. */
    archive: string
  }
}

const PROJECT = resolve(import.meta.dirname, '../..')
const LIMIT_MS = 300_000 // for hangs only

/** @throws {Error} with what `npm run package` has said. */
export default async function packOnce({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await makeTempDir('archive')
  const command = ['scripts/package.ts', '--to', folder.path]
  const { code, output } = await runCommand(process.execPath, command, {
    cwd: PROJECT,
    output: 'collect',
    timeoutMs: LIMIT_MS,
  })
  if (code !== 0) throw new Error(`The package cannot be made.\n${output}`)
  const [archive] = (await readdir(folder.path)).filter((name) => name.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`There is no archive.\n${output}`)
  provide('archive', join(folder.path, archive))
  return folder.remove
}
