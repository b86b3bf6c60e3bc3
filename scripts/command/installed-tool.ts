import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

/** A package that a command needs is missing in the application's project. */
export class MissingToolError extends Error {
  override readonly name = 'MissingToolError'
}

/**
 * Loads a package of the project in the working folder, or one that is installed beside this package.
 * @throws {MissingToolError} with the command that installs it.
 */
export function installedTool(name: string): unknown {
  for (const folder of [process.cwd(), import.meta.dirname]) {
    const load = createRequire(join(folder, 'package.json'))
    if (isThere(load, name)) return load(name)
  }
  throw new MissingToolError(`${name} is not installed. Install it: npm install --save-dev ${name}@${rangeOf(name)}`)
}

function isThere(load: NodeJS.Require, name: string): boolean {
  try {
    return load.resolve(name) !== ''
  } catch {
    return false
  }
}

/** The range in package.json of the published package. */
function rangeOf(name: string): string {
  const file = resolve(import.meta.dirname, '../../../package.json')
  const { millrace } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly millrace?: { readonly tools: Readonly<Record<string, string>> }
  }
  return millrace?.tools[name] ?? 'latest'
}
