import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { build } from 'esbuild'
import { displayPath } from '../build/build-options.ts'
import { CONFIG_FILES } from '../build/load-config.ts'
import { watchSources } from '../dev/watch-sources.ts'
import { ENV_FILES } from './env-files.ts'

/** Options of `watchSettings`. */
export interface SettingsWatchOptions {
  /** The project's folder, with the config. */
  readonly root: string
  /** The working folder, with the `.env` files. */
  readonly cwd: string
  /** Environment of the process, with the values from `.env` files. */
  readonly env: NodeJS.ProcessEnv
  /** Prints a line. */
  print(text: string): void
  /**
   * The settings have changed and can be used.
   * @param env the environment without the values from `.env` files.
   */
  restart(env: NodeJS.ProcessEnv): void
}

const CHECK = join(import.meta.dirname, `check-settings${extname(import.meta.filename)}`)
const CHECK_LIMIT_MS = 30_000 // a config that takes longer hangs

/**
 * Watches the config, the files that it imports, and the `.env` files. Settings that cannot be used are printed, and the
 * former ones stay.
 * @returns ends the watch.
 */
export async function watchSettings(options: SettingsWatchOptions): Promise<() => void> {
  const { root, cwd, env, print, restart } = options
  const outer = withoutFileValues(env, cwd)
  const last = { check: Promise.resolve() }
  const watcher = watchSources([], (files) => void (last.check = last.check.then(() => check(files))))
  const include = async (): Promise<void> =>
    watcher.include([...ENV_FILES.map((name) => join(cwd, name)), ...(await configSources(root))])

  async function check(files: readonly string[]): Promise<void> {
    await include() // it may import other files by now
    const fault = await settingsFault(root, cwd, outer)
    if (fault === undefined) {
      print(`${files.map((file) => displayPath(root, file)).join(', ')} changed: starting again.`)
      restart(outer)
    } else print(`${fault}\nThe settings from before stay in use.`)
  }

  await include()
  return watcher.close
}

/** Paths of all possible configs, and of the files that the config imports. A broken config imports nothing. */
async function configSources(root: string): Promise<readonly string[]> {
  const configs = CONFIG_FILES.map((name) => join(root, name))
  const config = configs.find((file) => existsSync(file))
  if (config === undefined) return configs
  const bundled = await build({
    entryPoints: [config],
    absWorkingDir: root,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'silent',
  }).catch(() => undefined)
  return [...configs, ...Object.keys(bundled?.metafile.inputs ?? {}).map((path) => join(root, path))]
}

/** A variable that has the value of an `.env` file comes from there. */
function withoutFileValues(env: NodeJS.ProcessEnv, cwd: string): NodeJS.ProcessEnv {
  const files = ENV_FILES.map((name) => join(cwd, name)).filter((file) => existsSync(file))
  const values = files.flatMap((file) => Object.entries(parseEnv(readFileSync(file, 'utf8'))))
  const ofFiles = new Set(values.flatMap(([name, value]) => (env[name] === value ? [name] : [])))
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofFiles.has(name)))
}

async function settingsFault(root: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const command = [...process.execArgv, CHECK, root]
  return promisify(execFile)(process.execPath, command, { cwd, env, timeout: CHECK_LIMIT_MS }).then(
    () => undefined,
    (error: Error & { stderr?: string }) => error.stderr?.trim() || error.message,
  )
}
