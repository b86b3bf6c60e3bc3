/** What the published package is made of, in one place: the modules, and how each of its imports is found once installed. */

/** Folders whose modules are in the package, with those that an application's own commands run. */
export const MODULE_FOLDERS = [
  'src/client',
  'src/server',
  'src/shared',
  'scripts/build',
  'scripts/dev',
  'scripts/command',
] as const

/** Entries of `exports` that hold types, by their source: what the declarations are made from. */
export interface Entry {
  /** As in `exports`: `./server`. */
  readonly path: string
  /** From the project's folder. */
  readonly source: string
}

/**
 * Packages that the server imports when it runs, and that an application has in its `node_modules` through this one.
 * Imports of them name a file of this package: a bundle of the application would not find them by their own names where the
 * package manager gives each package its own dependencies only.
 */
export const RUN_TIME_PACKAGES = ['@eslint-community/regexpp', '@redis/client', 'parseurl', 'pino', 're2js'] as const

/** Those of them that an application installs itself if it uses what needs them. */
export const OPTIONAL_PACKAGES = ['@redis/client'] as const

/** Packages that commands load from the application's project, which lists them among its development dependencies. */
export const TOOLS = ['esbuild', 'oxc-transform', '@sentry/cli'] as const

/** Packages that an application has beside this one. */
export const PEERS = ['react', 'react-dom'] as const

/** `@scope/name` or `name` of a specifier. */
export function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** The file name, without its ending, under which a package is found again: `redis-client` of `@redis/client`. */
export function fileName(specifier: string): string {
  return specifier
    .replace(/^@/, '')
    .replace(/\.js$/, '')
    .replace(/[^\w.-]+/g, '-')
}

/** Packages whose types the declarations mention, and that an application may do without. */
export const OPTIONAL_TYPES = ['express'] as const

/** What a new application lists beside this package; `millrace new` writes the versions that the project is tested with. */
export const TEMPLATE_PACKAGES = [
  ...PEERS,
  'zod',
  '@types/express',
  '@types/node',
  '@types/react',
  '@types/react-dom',
  'esbuild',
  'node',
  'oxc-transform',
  'playwright-core',
  'typescript',
] as const
