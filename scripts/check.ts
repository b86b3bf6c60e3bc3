/** `npm run check`: types, lint, format and house rules, in under half a minute on two cores. */
import { resolve } from 'node:path'
import { sourceSuites } from './checks/source-checks.ts'
import { runSuitesAtOnce } from './checks/suite.ts'

const suites = sourceSuites(resolve(import.meta.dirname, '..'))
const results = await runSuitesAtOnce(suites, console.log, () => performance.now())
if (results.some(({ failed }) => failed > 0)) process.exitCode = 1
