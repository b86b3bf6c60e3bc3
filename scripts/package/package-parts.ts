/**
 * The parts of the published package, in one place: its modules, and how each of their imports resolves after
 * installation.
 */

/** Folders whose modules are in the package, including those for an application's own commands. */
export const MODULE_FOLDERS = [
  'src/client',
  'src/server',
  'src/shared',
  'src/testing',
  'scripts/build',
  'scripts/dev',
  'scripts/command',
] as const

/**
 * Packages that the server imports at run time, and that an application has in its `node_modules` through this one.
 * Imports of them name a file of this package: a bundle of the application could not resolve their own names if the
 * package manager isolates the dependencies of each package.
 */
export const RUN_TIME_PACKAGES = [
  '@eslint-community/regexpp',
  '@opentelemetry/api',
  '@redis/client',
  'parseurl',
  'pino',
  're2js',
] as const

/** Those that an application installs itself if it uses the feature that needs them. */
export const OPTIONAL_PACKAGES = ['@opentelemetry/api', '@redis/client'] as const

/** Ranges of packages of which older versions do as well as the tested one. */
export const WIDER_RANGES: Readonly<Record<string, string>> = {
  // SDKs of version 2 refuse later ones.
  '@opentelemetry/api': '^1.9.0',
}

/** Packages that commands and tests load from the application's project, where they are development dependencies. */
export const TOOLS = ['esbuild', 'oxc-parser', 'oxc-transform', 'parse5', '@sentry/cli'] as const

/** Packages that an application installs beside this one. */
export const PEERS = ['react', 'react-dom'] as const

/** `@scope/name` or `name` of a specifier. */
export function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** The file name of a package, without its ending: `redis-client` for `@redis/client`. */
export function fileName(specifier: string): string {
  return specifier
    .replace(/^@/, '')
    .replace(/\.js$/, '')
    .replace(/[^\w.-]+/g, '-')
}

/** Packages whose types the declarations mention, although an application may not have them. */
export const OPTIONAL_TYPES = ['express'] as const

/**
 * Dependencies of a new application besides this package; `millrace new` writes the versions with which the project is
 * tested.
 */
export const TEMPLATE_PACKAGES = [
  ...PEERS,
  'zod',
  '@types/express',
  '@types/node',
  '@types/react',
  '@types/react-dom',
  'esbuild',
  'node',
  'oxc-parser',
  'oxc-transform',
  'parse5',
  'playwright-core',
  'typescript',
] as const
