/** `npm run typecheck`: runs the compiler on every folder, with the restrictions of its tsconfig. */
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { runCommand } from './run-command.ts'

/** Folders with a tsconfig of their own. */
const FOLDERS = [
  'src/shared',
  'src/client',
  'src/server',
  'src/testing',
  'src/app',
  'scripts',
  'templates',
  'examples',
  'tests',
] as const

const MAX_COMPILERS = 2 // each uses several threads

/**
 * Type-checks all folders and prints errors.
 * @param root the project's folder.
 * @param print receives the result of each folder.
 * @returns whether there were no errors.
 */
export async function typecheck(root: string, print: (text: string) => void = console.log): Promise<boolean> {
  const waiting: string[] = [...FOLDERS]
  const failed: string[] = []
  async function compile(): Promise<void> {
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
      const { code, output } = await runCommand('tsc', ['-p', folder, '--pretty', 'false'], {
        cwd: root,
        output: 'collect',
      })
      if (code !== 0) failed.push(folder)
      print(`${code === 0 ? 'ok    ' : 'FAILED'} tsc -p ${folder}${output === '' ? '' : `\n${output.trimEnd()}`}`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_COMPILERS, availableParallelism()) }, compile))
  return failed.length === 0
}

if (import.meta.main) {
  if (!(await typecheck(resolve(import.meta.dirname, '../..')))) process.exitCode = 1
}
