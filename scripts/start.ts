/**
 * `npm start`: serves the production build, and makes it first when it is missing or older than its sources. The
 * server runs in this very process, so that signals reach it.
 */
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildFault } from './build/build-fault.ts'
import { staleness } from './build/build-info.ts'
import { readBuildArguments, type BuildOptions } from './build/build-options.ts'

const HELP = ['-h', '--help']

async function start(args: readonly string[]): Promise<void> {
  if (args.some((argument) => HELP.includes(argument))) {
    const { describeConfig } = await import('../src/server/config.ts')
    console.log(`Usage: npm start [-- --app <folder> --out <folder>]\n\n${describeConfig()}`)
    return
  }
  const options = readBuildArguments(args)
  const reason = staleness(options, process.env)
  if (reason !== undefined) await buildFirst(options, reason)
  process.env['NODE_ENV'] = 'production'
  await import(pathToFileURL(join(options.out, 'server/main.js')).href)
}

/** Speaks on stderr: stdout belongs to the server's log. */
async function buildFirst(options: BuildOptions, reason: 'missing' | 'stale'): Promise<void> {
  const out = relative(process.cwd(), options.out) || options.out
  console.error(`The build in ${out} is ${reason === 'missing' ? 'missing' : 'older than its sources'}; building.`)
  const { buildApplication } = await import('./build/build-application.ts')
  const { manifest, warnings } = await buildApplication(options, process.env)
  if (warnings !== '') console.error(warnings)
  console.error(`Built ${out}, build ${manifest.buildId}.`)
}

try {
  await start(process.argv.slice(2))
} catch (error) {
  const { describeFault } = await import('./build/esbuild-messages.ts')
  const fault = error instanceof BuildFault ? error.message : await describeFault(error)
  if (fault === undefined) throw error
  console.error(fault)
  process.exitCode = 1
}
