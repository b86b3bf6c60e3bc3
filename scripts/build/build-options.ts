import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isRuntimePath } from '../../src/shared/runtime-paths.ts'
import { BuildFault } from './build-fault.ts'
import type { Customization } from './customization.ts'
import { loadConfig } from './load-config.ts'
import { readArguments } from './read-arguments.ts'
import type { Runtime } from './runtime.ts'

/** What to build, and where. All paths are absolute. */
export interface BuildOptions {
  /** The application's project: holds `package.json` and `node_modules`. */
  readonly root: string
  /** The application's folder: `app.ts`, `routes.ts`, `client.tsx`, `document.tsx`. */
  readonly app: string
  /** The output folder. Outside the project it gets a link to the project's packages, which the server imports. */
  readonly out: string
  /** The runtime to build with; the one that these scripts belong to unless told. */
  readonly runtime?: Runtime
  /** Where the application is mounted on its host: `/shop`, `/a/b`. Default: `''`, the root. */
  readonly basePath?: string | undefined
  /** What the project's config changes in bundles. */
  readonly customization?: Customization
}

/** The path that the server gives to the files of `<out>/public`, without the base path. */
export const PUBLIC_PATH = '/_m/assets/'

/** Accepted unchanged by browsers, cookies and patterns of Express. */
const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*$/
const MOST_BASE_CHARACTERS = 64 // cookies carry it in their names

/** Files that an application's folder must contain. */
const APPLICATION_FILES = ['app.ts', 'routes.ts', 'client.tsx', 'document.tsx'] as const

/** `--app <folder>`, of each command that needs an application. */
export const APP_ARGUMENT = { app: { value: '<folder>' } } as const

/** `--out <folder>`, of each command that needs a build. */
export const OUT_ARGUMENT = { out: { value: '<folder>' } } as const

/** How to read a command's arguments. */
export interface BuildArguments {
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
  return {
    root,
    app: named ?? realPath(resolve(root, app)),
    out: values.out === undefined ? resolve(root, out) : resolve(cwd, values.out),
    ...(basePath === undefined ? {} : { basePath }),
    customization,
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

/**
 * Checks that there is something to build, and that the output can replace nothing but a former build.
 * @throws {BuildFault}
 */
export function checkBuildOptions({ root, app, out, basePath = '' }: BuildOptions): void {
  checkBasePath(basePath)
  for (const file of APPLICATION_FILES) {
    if (existsSync(join(app, file))) continue
    throw new BuildFault(
      `${displayPath(root, app)} is no application: ${file} is missing. ` +
        `An application's folder contains ${APPLICATION_FILES.join(', ')}; name another one with --app <folder>.`,
    )
  }
  const fromOut = relative(out, root)
  if (fromOut === '' || !(fromOut.startsWith('..') || isAbsolute(fromOut))) {
    throw new BuildFault(
      `--out ${out} contains the project itself, and a build replaces that folder. Choose another one.`,
    )
  }
  if (existsSync(out) && !existsSync(join(out, 'build-info.json')) && existsSync(join(out, 'package.json'))) {
    throw new BuildFault(
      `--out ${out} contains something other than a build, and a build replaces that folder. Choose another one.`,
    )
  }
}

function checkBasePath(basePath: string): void {
  if (BASE_PATH.test(basePath) && basePath.length <= MOST_BASE_CHARACTERS && !isRuntimePath(basePath)) return
  throw new BuildFault(
    `basePath '${basePath}' is refused: it begins with a slash and ends without one, like /shop or /a/b, has at most ` +
      `${MOST_BASE_CHARACTERS} characters (letters, digits, '-', '_', '.') and is none of the runtime's own paths.`,
  )
}

/** A path for messages and outputs: relative to the project, with forward slashes on every platform. */
export function displayPath(root: string, file: string): string {
  return relative(root, file).split(sep).join('/')
}
