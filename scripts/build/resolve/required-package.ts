/** The way from a project to a file of a package that its own `require` does not find: package by package. */
interface PackagePath {
  /** Names of packages; each is looked for from the one before it, the first one from the project. */
  readonly packages: readonly string[]
  /** Path of the file in the last one. */
  readonly file: string
}

/** Text of a module that is what `require` gives for a specifier. */
export function requiredModule(specifier: string): string {
  return `module.exports = require(${JSON.stringify(specifier)})\n`
}

/**
 * Text of a module that is a file of a package which only other packages can find, as where a package manager isolates the
 * dependencies of each.
 */
export function reachedModule({ packages, file }: PackagePath): string {
  return `const { existsSync, realpathSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const found = ${JSON.stringify(packages)}.reduce((from, name) => {
  const folder = (from.resolve.paths(name) ?? []).map((path) => join(path, name)).find((path) => existsSync(path))
  if (folder === undefined) throw new Error(\`Cannot find package '\${name}'\`)
  return createRequire(join(realpathSync(folder), 'package.json'))
}, require)
module.exports = found(${JSON.stringify(`./${file}`)})
`
}
