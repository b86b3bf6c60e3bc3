import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
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
  /** Environment without the values from `.env` files. */
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds from one look at the files to the next. Default: the system tells of changes. */
  readonly pollMs: number | undefined
  /** Prints a line. */
  print(text: string): void
  /** The settings have changed and can be used. */
  restart(): void
}

const CHECK = join(import.meta.dirname, `check-settings${extname(import.meta.filename)}`)
const CHECK_LIMIT_MS = 30_000 // a config that takes longer hangs

/**
 * Watches the config, the files that it imports, and the `.env` files. Settings that cannot be used are printed, and the
 * former ones stay.
 * @returns ends the watch.
 */
export function watchSettings(options: SettingsWatchOptions): () => void {
  const { root, cwd, env, pollMs, print, restart } = options
  const last = { check: Promise.resolve() }
  const watcher = watchSources([], (files) => void (last.check = last.check.then(() => check(files))), { pollMs })
  watcher.include([...ENV_FILES.map((name) => join(cwd, name)), ...CONFIG_FILES.map((name) => join(root, name))])

  async function check(files: readonly string[]): Promise<void> {
    watcher.include(await configImports(root)) // others than before
    const fault = await settingsFault(root, cwd, env)
    if (fault === undefined) {
      print(`${files.map((file) => displayPath(root, file)).join(', ')} changed: starting again.`)
      restart()
    } else print(`${fault}\nThe settings from before stay in use.`)
  }

  last.check = configImports(root).then(watcher.include)
  return watcher.close
}

/** Paths of the files that the config imports. A broken config imports nothing. */
async function configImports(root: string): Promise<readonly string[]> {
  const config = CONFIG_FILES.find((name) => existsSync(join(root, name)))
  if (config === undefined) return []
  const bundled = await build({
    entryPoints: [join(root, config)],
    absWorkingDir: root,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'silent',
  }).catch(() => undefined)
  return Object.keys(bundled?.metafile.inputs ?? {}).map((path) => join(root, path))
}

async function settingsFault(root: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const command = [...process.execArgv, CHECK, root]
  return promisify(execFile)(process.execPath, command, { cwd, env, timeout: CHECK_LIMIT_MS }).then(
    () => undefined,
    (error: Error & { stderr?: string }) => error.stderr?.trim() || error.message,
  )
}
