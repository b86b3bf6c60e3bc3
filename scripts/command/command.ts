import { BuildFault } from '../build/build-fault.ts'
import { ConfigError } from '../../src/server/config/config.ts'
import { configFault } from '../../src/server/config/variable-origin.ts'
import { MissingToolError } from './installed-tool.ts'
import { loadEnvFiles } from './env-files.ts'
import { endWithParent } from './parent-watch.ts'
import { takeRestartMark } from './restart-mark.ts'

/** @param env the environment without the values from `.env` files. */
type Command = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<void>

/**
 * Each command loads only its own code: `serve` nothing of the build, and `build` nothing of the development server.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./dev.ts')).dev,
  build: async () => (await import('./build.ts')).build,
  start: async () => (await import('./start.ts')).start,
  serve: async () => (await import('./start.ts')).serve,
  export: async () => (await import('./export.ts')).exportPages,
  routes: async () => (await import('./routes.ts')).routes,
  docs: async () => (await import('./docs.ts')).docs,
  'upload-source-maps': async () => (await import('./upload-source-maps.ts')).uploadSourceMaps,
}

/** Commands that run until they are stopped. */
const SERVERS = new Set(['dev', 'start', 'serve'])

/** Runs a command of `millrace`; prints users' mistakes without a stack, and sets the exit code. */
export async function runCommand(name: string, args: readonly string[]): Promise<void> {
  const port = takeRestartMark(process.env)
  const env = { ...process.env }
  if (SERVERS.has(name)) endWithParent()
  try {
    loadEnvFiles(process.cwd())
    const command = await COMMANDS[name]?.()
    await command?.(args, env)
  } catch (error) {
    const fault = await faultOf(error)
    if (fault === undefined) throw error
    console.error(fault)
    if (port === undefined) process.exitCode = 1
    else await (await import('./settings-wait.ts')).waitForSettings({ args, env, port, error, fault })
  }
}

/** Adds the server's variables to the help of the commands that start one. */
export async function describeVariables(): Promise<string> {
  const { describeConfig } = await import('../../src/server/config/config.ts')
  return describeConfig()
}

async function faultOf(error: unknown): Promise<string | undefined> {
  if (error instanceof ConfigError) return configFault(error)
  if (error instanceof BuildFault || error instanceof MissingToolError) return error.message
  if (!(error instanceof Error && 'errors' in error && 'warnings' in error)) return undefined
  const { describeFault } = await import('../build/esbuild-messages.ts')
  return describeFault(error)
}
