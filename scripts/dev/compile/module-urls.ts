import { PUBLIC_PATH } from '../../build/build-options.ts'

/**
 * URLs of single modules; a module gets another one when browsers must reload it. Browsers see them with the base path, and
 * the gateway takes it off.
 */
export interface ModuleUrls {
  /** The URL path that browsers use for a path of the development server. */
  publicPath(path: string): string
  /** The reverse; `undefined` for a path outside of the base path. */
  ownPath(path: string): string | undefined
  urlOf(key: string): string
  /**
   * @param path without the base path.
   * @returns the module's path in the project; `undefined` for a path that cannot be one.
   */
  keyOf(path: string): string | undefined
  renew(keys: readonly string[]): void
}

const UP = '@up' // replaces `..`, which URLs cannot contain

/**
 * Module URLs start as plain paths, equal to those of an earlier run of the server.
 * @param basePath the application's: `/shop`.
 */
export function createModuleUrls(basePath = ''): ModuleUrls {
  const versions = new Map<string, number>()
  return {
    publicPath: (path) => basePath + path,
    ownPath: (path) => (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined),
    urlOf(key) {
      const version = versions.get(key)
      return basePath + modulePath(key) + (version === undefined ? '' : `?v=${version}`)
    },
    keyOf(path) {
      const encoded = path.slice(PUBLIC_PATH.length).split('/')
      try {
        return encoded.map((part) => (part === UP ? '..' : decodeURIComponent(part))).join('/')
      } catch {
        return undefined
      }
    },
    renew(keys) {
      for (const key of keys) versions.set(key, (versions.get(key) ?? 0) + 1)
    },
  }
}

/** Where a file of the project is served, without its version. */
export function modulePath(key: string): string {
  return (
    PUBLIC_PATH +
    key
      .split('/')
      .map((part) => (part === '..' ? UP : encodeURIComponent(part)))
      .join('/')
  )
}
