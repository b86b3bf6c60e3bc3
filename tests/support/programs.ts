import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that tests run beside the server, with the package that brings each on Debian. */
const DEBIAN_PACKAGES = {
  nginx: 'nginx-light',
  'redis-server': 'redis-server',
  slowhttptest: 'slowhttptest',
  initdb: 'postgresql',
  postgres: 'postgresql',
} as const

/** A program that some tests need and npm does not bring. */
type Program = keyof typeof DEBIAN_PACKAGES

/** All of them. */
export const PROGRAMS = Object.keys(DEBIAN_PACKAGES) as readonly Program[]

/** Where servers are installed that are in nobody's PATH but root's. */
const MORE_PLACES = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'] as const

/** @returns the executable's path, or `undefined`. */
export function findProgram(name: Program): string | undefined {
  return findExecutable(name)
}

/** As `findProgram`, for what no test of this suite must have. */
export function findExecutable(name: string): string | undefined {
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...MORE_PLACES,
    ...globSync('/usr/lib/postgresql/*/bin'),
  ]
  return places.map((place) => join(place, name)).find((path) => existsSync(path))
}

/** One line for whoever has none of these. */
export function howToGet(programs: readonly Program[]): string {
  return `Install ${programs.join(', ')} (Debian: \`apt-get install ${[...new Set(programs.map((name) => DEBIAN_PACKAGES[name]))].join(' ')}\`).`
}

/**
 * The executable for a test that cannot do without.
 * @throws {Error} where there is none; the suite says beforehand which tests are left out, see `scripts/test.ts`.
 */
export function programPath(name: Program): string {
  const path = findProgram(name)
  if (path === undefined) throw new Error(howToGet([name]))
  return path
}
