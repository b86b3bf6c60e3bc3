import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { BuildOptions } from '../build-options.ts'
import { loadConfig } from './load-config.ts'
import { readArguments } from './read-arguments.ts'
import { withStyleTools } from '../assets/style-tools.ts'
import { tsconfigAliases } from './tsconfig-aliases.ts'

/** `--app <folder>`, of each command that needs an application. */
export const APP_ARGUMENT = { app: { value: '<folder>' } } as const

/** `--out <folder>`, of each command that needs a build. */
export const OUT_ARGUMENT = { out: { value: '<folder>' } } as const

/** How to read a command's arguments. */
interface BuildArguments {
  /** The working folder. Default: the process's. */
  readonly cwd?: string
  /** Whether the command takes `--out`. Default: yes. */
  readonly hasOutput?: boolean
}

/**
 * Reads `--app <folder>` and `--out <folder>`, and finds what they name.
 * @throws {BuildFault} for an unknown argument, and as `loadConfig`.
 */
export async function readBuildArguments(
  args: readonly string[],
  { cwd = process.cwd(), hasOutput = true }: BuildArguments = {},
): Promise<BuildOptions> {
  return locateApplication(readArguments(args, hasOutput ? { ...APP_ARGUMENT, ...OUT_ARGUMENT } : APP_ARGUMENT), cwd)
}

/**
 * Finds the application and its output by the options of a command, relative to the working folder, and the config of the
 * project. The project is the nearest folder with a `package.json`, above the application or the working folder. An option
 * wins over the config, and without either the application is `src/app` and the output `dist`.
 * @throws {BuildFault} as `loadConfig`.
 */
export async function locateApplication(
  values: { readonly app?: string; readonly out?: string },
  cwd: string = process.cwd(),
): Promise<BuildOptions> {
  const root = projectFolder(values, cwd)
  const named = values.app === undefined ? undefined : realPath(resolve(cwd, values.app))
  const { app = 'src/app', out = 'dist', basePath, ...customization } = await loadConfig(root)
  const alias = { ...(await tsconfigAliases(root)), ...customization.alias }
  const hasAliases = Object.keys(alias).length > 0
  return {
    root,
    app: named ?? realPath(resolve(root, app)),
    out: values.out === undefined ? resolve(root, out) : resolve(cwd, values.out),
    ...(basePath === undefined ? {} : { basePath }),
    customization: withStyleTools(root, { ...customization, ...(hasAliases && { alias }) }),
  }
}

/** The nearest folder with a `package.json`, above the application that is named or the working folder. */
export function projectFolder({ app }: { readonly app?: string }, cwd: string = process.cwd()): string {
  return projectOf(realPath(app === undefined ? cwd : resolve(cwd, app))) ?? realPath(cwd)
}

/** Bundlers name sources by their real paths. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function projectOf(app: string): string | undefined {
  for (let at = app; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at
    if (dirname(at) === at) return undefined
  }
}
