import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildFault } from '../build/build-fault.ts'
import { BUILD_INFO, staleness, type BuildInfo } from '../build/output/build-info.ts'
import type { BuildOptions } from '../build/build-options.ts'
import { readBuildArguments } from '../build/project/locate-application.ts'
import { ConfigLoadError } from '../build/project/load-config.ts'

const MAIN = 'server/main.js'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * `millrace start`: serves the production build, after building it if it is missing or outdated. The server runs in this
 * process, so that signals reach it; a build runs in a separate one, so that the server does not keep the build's memory.
 * @throws {BuildFault} for a wrong argument.
 */
export async function start(args: readonly string[]): Promise<void> {
  const options = await readBuildArguments(args)
  if (await buildIfNeeded(args, options)) await serveBuild(options)
}

/**
 * Builds in a process of its own if the build is missing or outdated.
 * @param args of the build.
 * @returns whether there is a build now; if not, the fault has been printed.
 */
export async function buildIfNeeded(args: readonly string[], options: BuildOptions): Promise<boolean> {
  const reason = staleness(options, process.env)
  return reason === undefined || buildFirst(args, options, reason)
}

/**
 * `millrace serve`: serves an existing build.
 * @throws {BuildFault} if there is none, or for a wrong argument.
 */
export async function serve(args: readonly string[]): Promise<void> {
  await serveBuild(
    await readBuildArguments(args).catch((error: unknown) => {
      // A config may import plugins, which a production install does not have.
      const usual = join(process.cwd(), 'dist')
      if (!(error instanceof ConfigLoadError) || args.length > 0 || !existsSync(join(usual, MAIN))) throw error
      return { out: usual }
    }),
  )
}

async function serveBuild({ out }: Pick<BuildOptions, 'out'>): Promise<void> {
  const main = join(out, MAIN)
  if (!existsSync(main))
    throw new BuildFault(`There is no build in ${relative(process.cwd(), out) || out}. Make one: npm run build`)
  process.env['NODE_ENV'] = 'production'
  process.setSourceMapsEnabled(true)
  await import(pathToFileURL(main).href)
}

/** Prints on stderr: stdout is for the server's log. */
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
  const command = [...process.execArgv, process.argv[1] ?? '', 'build', ...args]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code, killer] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  for (const signal of SIGNALS) process.off(signal, end)
  if (killer !== null) console.error(`The build was ended by ${killer}.`)
  process.exitCode = code ?? 1
  if (process.exitCode !== 0) return false
  const { buildId } = JSON.parse(readFileSync(join(options.out, BUILD_INFO), 'utf8')) as BuildInfo
  console.error(`Built ${out}, build ${buildId}.`)
  return true
}
