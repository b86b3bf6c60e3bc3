/**
 * `npm start`: serves the production build, after building it if it is missing or outdated. The server runs in this
 * process, so that signals reach it; a build runs in a separate one, so that the server does not keep the build's
 * memory.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildFault } from './build/build-fault.ts'
import { BUILD_INFO, staleness, type BuildInfo } from './build/build-info.ts'
import { readBuildArguments, type BuildOptions } from './build/build-options.ts'

const HELP = ['-h', '--help']
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function start(args: readonly string[]): Promise<void> {
  if (args.some((argument) => HELP.includes(argument))) {
    const { describeConfig } = await import('../src/server/config/config.ts')
    console.log(`Usage: npm start [-- --app <folder> --out <folder>]\n\n${describeConfig()}`)
    return
  }
  const options = readBuildArguments(args)
  const reason = staleness(options, process.env)
  if (reason !== undefined && !(await buildFirst(args, options, reason))) return
  process.env['NODE_ENV'] = 'production'
  await import(pathToFileURL(join(options.out, 'server/main.js')).href)
}

/**
 * Prints on stderr: stdout is for the server's log.
 * @returns whether there is a build now; if not, the fault has been printed.
 */
async function buildFirst(
  args: readonly string[],
  options: BuildOptions,
  reason: 'missing' | 'stale',
): Promise<boolean> {
  const out = relative(process.cwd(), options.out) || options.out
  console.error(`The build in ${out} is ${reason === 'missing' ? 'missing' : 'older than its sources'}; building.`)
  const end = (signal: NodeJS.Signals): void => {
    child.kill(signal)
    process.kill(process.pid, signal) // the handlers are gone: this ends the process
  }
  // Before the build starts: a signal in between would end this process alone.
  for (const signal of SIGNALS) process.once(signal, end)
  const child = spawn(process.execPath, [join(import.meta.dirname, `build${extname(import.meta.filename)}`), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, killer] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  for (const signal of SIGNALS) process.off(signal, end)
  if (killer !== null) console.error(`The build was ended by ${killer}.`)
  process.exitCode = code ?? 1
  if (process.exitCode !== 0) return false
  const { buildId } = JSON.parse(readFileSync(join(options.out, BUILD_INFO), 'utf8')) as BuildInfo
  console.error(`Built ${out}, build ${buildId}.`)
  return true
}

try {
  await start(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof BuildFault)) throw error
  console.error(error.message)
  process.exitCode = 1
}
