/** Checks of the sources without running them: types, lint and format, house rules. */
import { typecheck } from './typecheck.ts'
import { checkHouse } from './house.ts'
import { runCommand } from './run-command.ts'
import type { Print, Suite, SuiteCount } from './suite.ts'

const LIMIT_MS = 300_000 // a lint that takes longer hangs

/** Parses only files that changed since the last run. The cache is `node_modules/.cache/prettier`. */
const PRETTIER = ['--check', '--log-level', 'warn', '--cache', '--cache-strategy', 'content', '.'] as const

/** The suites of `npm run check`. They may run concurrently. */
export function sourceSuites(root: string): readonly Suite[] {
  return [
    { title: 'Types', counts: 'check', run: async (print) => asCount(await typecheck(root, print)) },
    { title: 'Lint', counts: 'check', run: (print) => runTool(root, print, 'oxlint', ['--deny-warnings']) },
    { title: 'Format', counts: 'check', run: (print) => runTool(root, print, 'prettier', PRETTIER) },
    { title: 'House rules', counts: 'check', run: async (print) => asCount(await checkHouse(root, print)) },
  ]
}

/** Counts a check as one test. */
export function asCount(holds: boolean): SuiteCount {
  return holds ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

async function runTool(root: string, print: Print, tool: string, args: readonly string[]): Promise<SuiteCount> {
  const { code, output } = await runCommand(tool, args, { cwd: root, timeoutMs: LIMIT_MS, output: 'collect' })
  if (output.trim() !== '') print(output.trim())
  return asCount(code === 0)
}
