/** The measuring part of `npm run bench`, in a process of its own: it knows a browser's types, and scripts do not. */
import { parseOptions } from './options.ts'
import { runBenchmark } from './run.ts'

const options = parseOptions(process.argv.slice(2))
process.exitCode = (await runBenchmark(options)) || !options.gate ? 0 : 1
