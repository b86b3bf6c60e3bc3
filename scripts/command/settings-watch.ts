import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { displayPath } from '../build/build-options.ts'
import { contentHash } from '../build/content-hash.ts'
import { CONFIG_FILES } from '../build/project/load-config.ts'
import { findPostcssConfig, POSTCSS_FILES } from '../build/assets/postcss-config.ts'
import { ENV_FILES } from '../../src/server/config/variable-origin.ts'
import { watchSources } from '../dev/watch/watch-sources.ts'

/** Options of `watchSettings`. */
interface SettingsWatchOptions {
  /** Arguments of the command. */
  readonly args: readonly string[]
  /** The project's folder, with the config. */
  readonly root: string
  /** The working folder, with the `.env` files. */
  readonly cwd: string
  /** Environment without the values from `.env` files. */
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds from one look at the files to the next. Default: the system reports changes. */
  readonly pollMs: number | undefined
  /** What is printed after a fault: what happens as long as there is one. */
  readonly otherwise: string
  /** A fault that is known. Then the settings are checked at once: they may have been fixed since. */
  readonly fault?: string | undefined
  /** Prints a text. */
  print(text: string): void
  /** The settings have changed and can be used. Called once; nothing is watched any more. */
  restart(): void
}

const CHECK = join(import.meta.dirname, `check-settings${extname(import.meta.filename)}`)
const CHECK_LIMIT_MS = 30_000 // a config that takes longer hangs

/**
 * Watches the config, that of PostCSS and that of the compiler, the files that they import, and the `.env` files, saves since the start of this
 * process included. Settings that cannot be used are printed, each state of the files once.
 * @returns ends the watch.
 */
export function watchSettings(options: SettingsWatchOptions): () => void {
  const { root, cwd, pollMs, otherwise, fault: known, print, restart } = options
  const configs = [...CONFIG_FILES, ...POSTCSS_FILES, 'tsconfig.json']
  const settings = [...ENV_FILES.map((name) => join(cwd, name)), ...configs.map((name) => join(root, name))]
  const state = { isClosed: false, faulty: '', last: Promise.resolve() }
  const watcher = watchSources([], (files) => void (state.last = state.last.then(() => check(files))), { pollMs })
  watcher.include(settings)

  function close(): void {
    state.isClosed = true
    watcher.close()
  }

  async function check(files: readonly string[], former?: string): Promise<void> {
    if (state.isClosed) return
    const imports = await configImports(root)
    watcher.include(imports) // others than before
    const stamp = await stampOf([...settings, ...imports])
    if (stamp === state.faulty) return
    const fault = await settingsFault(options)
    if (state.isClosed) return
    if (fault === undefined) {
      const names = files.map((file) => displayPath(root, file)).join(', ')
      print(`${names || 'The settings'} changed: starting again.`)
      close()
      return restart()
    }
    // A file that was saved meanwhile is checked next.
    if (stamp !== (await stampOf([...settings, ...imports]))) return
    state.faulty = stamp
    if (fault !== former) print(`${fault}\n${otherwise}`)
  }

  async function checkFirst(): Promise<void> {
    const imports = await configImports(root)
    watcher.include(imports)
    const late = [...settings, ...imports].filter(isLate)
    if (late.length > 0 || known !== undefined) await check(late, known)
  }

  state.last = checkFirst()
  return close
}

/** Whether a file was saved after this process had started, which may have read it before. */
function isLate(file: string): boolean {
  const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {}
  return mtimeMs > performance.timeOrigin && mtimeMs <= Date.now() // clocks of network folders may be ahead
}

async function stampOf(files: readonly string[]): Promise<string> {
  return contentHash(...(await Promise.all(files.map((file) => readFile(file, 'utf8').catch(String)))))
}

/** Paths of the configs and of the files that they import. A broken config imports nothing. */
async function configImports(root: string): Promise<readonly string[]> {
  const config = CONFIG_FILES.map((name) => join(root, name)).find((file) => existsSync(file))
  const configs = [config, findPostcssConfig(root)].filter((file) => file !== undefined)
  return (await Promise.all(configs.map((file) => filesOf(root, file)))).flat()
}

async function filesOf(root: string, config: string): Promise<readonly string[]> {
  if (!/\.[cm]?[jt]s$/.test(config)) return [config]
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
  return Object.keys(bundled?.metafile.inputs ?? {}).map((path) => join(root, path))
}

/** Checks the settings in a process of its own, which a config may end or keep busy. */
async function settingsFault({ args, cwd, env }: SettingsWatchOptions): Promise<string | undefined> {
  const command = [...process.execArgv, CHECK, ...args]
  const { stdout, stderr, error } = await promisify(execFile)(process.execPath, command, {
    cwd,
    env,
    timeout: CHECK_LIMIT_MS,
  }).then(
    (output) => ({ ...output, error: undefined }),
    (reason: Error & { stdout?: string; stderr?: string; killed?: boolean }) => ({
      stdout: reason.stdout ?? '',
      stderr: reason.stderr ?? '',
      error: reason,
    }),
  )
  if (stdout.endsWith('usable')) return undefined
  if (error?.killed === true)
    return `The config is not loaded after ${CHECK_LIMIT_MS / 1_000} s: it waits for something.`
  return stderr.trim() || 'The config ended the process that loaded it.'
}
