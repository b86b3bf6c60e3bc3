import { existsSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { isRuntimePath } from '../../src/shared/runtime-paths.ts'
import { BuildFault } from './build-fault.ts'
import type { MillraceConfig } from './define-config.ts'
import type { Runtime } from './runtime.ts'

/** What to build, and where. All paths are absolute. */
export interface BuildOptions {
  /** The application's project: holds `package.json` and `node_modules`. */
  readonly root: string
  /** The application's folder: `app.ts`, `routes.ts`, `client.tsx`, `document.tsx`. */
  readonly app: string
  /** The output folder. Outside the project it gets a link to the project's packages, which the server imports. */
  readonly out: string
  /** The runtime to build with; default: the one that these scripts belong to. */
  readonly runtime?: Runtime
  /** Where the application is mounted on its host: `/shop`, `/a/b`. Default: `''`, the root. */
  readonly basePath?: string | undefined
  /** What the project's config changes in bundles. */
  readonly customization?: Customization
}

/** The part of a config that changes bundles. */
export type Customization = Pick<MillraceConfig, 'plugins' | 'alias' | 'define' | 'targets'>

/** One set of options for every file, wherever an application is and whatever tsconfig is near it. */
export const TSCONFIG = { compilerOptions: { jsx: 'react-jsx', verbatimModuleSyntax: true, target: 'ES2024' } } as const

/** esbuild's options for reading imports and exports of modules from its output: every statement begins a line. */
export const INTERFACE_OPTIONS = {
  bundle: false,
  write: false,
  metafile: true,
  logLevel: 'silent',
  format: 'esm',
  legalComments: 'none',
  tsconfigRaw: TSCONFIG,
  supported: { 'template-literal': false }, // no string spans lines
} as const

/** The path that the server gives to the files of `<out>/public`, without the base path. */
export const PUBLIC_PATH = '/_m/assets/'

/** Accepted unchanged by browsers, cookies and patterns of Express. */
const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*$/
const MOST_BASE_CHARACTERS = 64 // cookies carry it in their names

/** Files that an application's folder must contain. */
const APPLICATION_FILES = ['app.ts', 'routes.ts', 'client.tsx', 'document.tsx'] as const

/**
 * Checks that there is something to build, and that the output can replace nothing but a former build.
 * @throws {BuildFault}
 */
export function checkBuildOptions({ root, app, out, basePath = '' }: BuildOptions): void {
  checkBasePath(basePath)
  for (const file of APPLICATION_FILES) {
    if (existsSync(join(app, file))) continue
    throw new BuildFault(
      `${displayPath(root, app)} is not an application: ${file} is missing. ` +
        `An application's folder contains ${APPLICATION_FILES.join(', ')}; choose another folder with --app <folder>.`,
    )
  }
  const fromOut = relative(out, root)
  if (fromOut === '' || !(fromOut.startsWith('..') || isAbsolute(fromOut))) {
    throw new BuildFault(
      `--out ${out} contains the project itself, and a build replaces this folder. Choose a different one.`,
    )
  }
  if (existsSync(out) && !existsSync(join(out, 'build-info.json')) && existsSync(join(out, 'package.json'))) {
    throw new BuildFault(
      `--out ${out} contains something other than a build, and a build replaces this folder. Choose a different one.`,
    )
  }
}

function checkBasePath(basePath: string): void {
  if (BASE_PATH.test(basePath) && basePath.length <= MOST_BASE_CHARACTERS && !isRuntimePath(basePath)) return
  throw new BuildFault(
    `basePath '${basePath}' is refused: it begins with a slash and ends without one, like /shop or /a/b, has at most ` +
      `${MOST_BASE_CHARACTERS} characters (letters, digits, '-', '_', '.') and is not one of Millrace's own paths.`,
  )
}

/** A path for messages and outputs: relative to the project, with forward slashes on every platform. */
export function displayPath(root: string, file: string): string {
  return relative(root, file).split(sep).join('/')
}
