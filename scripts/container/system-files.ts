import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** A file of the machine that the image needs besides the application. */
export interface SystemFile {
  /** Absolute path of the file that is copied. */
  readonly from: string
  /** Absolute path in the image. */
  readonly to: string
  /** The system package to which it belongs, if known. */
  readonly owner: SystemPackage | undefined
}

/** A package of the base image's Debian. */
interface SystemPackage {
  readonly name: string
  readonly version: string
}

/** Node may not report its libraries, or tini may be missing; the message says what to install. */
class SystemFileError extends Error {
  override readonly name = 'SystemFileError'
}

const TINI = '/usr/bin/tini-static'

/** The running Node, its loaded libraries including the dynamic loader, and tini. */
export function systemFiles(): readonly SystemFile[] {
  if (!existsSync(TINI)) throw new SystemFileError(`${TINI} is missing: apt-get install tini`)
  const libraries = sharedObjects().filter((path) => path.startsWith('/'))
  if (libraries.length === 0) throw new SystemFileError('this Node does not report the libraries it has loaded')
  return [
    { from: process.execPath, to: '/usr/local/bin/node', owner: undefined },
    { from: TINI, to: '/usr/local/bin/tini', owner: ownerOf(TINI) },
    ...libraries.map((path) => ({ from: path, to: path, owner: ownerOf(path) })),
  ]
}

function sharedObjects(): readonly string[] {
  Object.assign(process.report, { excludeNetwork: true }) // avoids a name lookup for every open connection
  const report = process.report.getReport() as { readonly sharedObjects?: readonly string[] }
  return report.sharedObjects ?? []
}

/** The package of a file, looked up by its paths before and after `/lib` became a link to `/usr/lib`. */
function ownerOf(path: string): SystemPackage | undefined {
  const places = [path, path.startsWith('/usr/') ? path.slice('/usr'.length) : `/usr${path}`]
  for (const place of places) {
    const line = query('dpkg-query', ['--search', place])
    const name = /^([^:\s]+)/.exec(line)?.[1]
    if (name !== undefined) {
      return { name, version: query('dpkg-query', ['--show', '--showformat=${Version}\\n', name]).split('\n')[0] ?? '' }
    }
  }
  return undefined
}

/** @returns `''` if the command fails or is missing: then the bill of materials names files instead of packages. */
function query(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}
