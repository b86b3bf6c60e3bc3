import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** A file of the machine that the image needs beside the application. */
export interface SystemFile {
  /** Absolute path of the file that is copied. */
  readonly from: string
  /** Absolute path in the image. */
  readonly to: string
  /** The package of the system that it belongs to, where the system knows. */
  readonly owner: SystemPackage | undefined
}

/** A package of the base image's Debian. */
export interface SystemPackage {
  readonly name: string
  readonly version: string
}

/** Node may not report its libraries, or tini may be missing; the message says what to install. */
export class SystemFileError extends Error {
  override readonly name = 'SystemFileError'
}

const TINI = '/usr/bin/tini-static'

/** The running Node, the libraries that it has loaded, the dynamic loader among them, and tini. */
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
  Object.assign(process.report, { excludeNetwork: true }) // it would look up a name for every open connection
  const report = process.report.getReport() as { readonly sharedObjects?: readonly string[] }
  return report.sharedObjects ?? []
}

/** Files of packages, as they were before `/lib` became a link to `/usr/lib` and as they are since. */
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

/** @returns `''` where the command fails, or is not there: then the bill of materials names files and not packages. */
function query(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}
