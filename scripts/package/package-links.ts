import { fileName, RUN_TIME_PACKAGES, TOOLS } from './package-parts.ts'

const TAKEN = /\{([^{}]*)\} (?:from |= await import\()"millrace\/internal\/packages\/([^"]+)"/g

/**
 * The files of `lib/packages`: each re-exports an installed package, so that importing modules need not resolve it.
 * @param modules the compiled modules, which show the used exports of the tools.
 */
export function packageLinks(modules: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const name of RUN_TIME_PACKAGES) {
    files.set(`packages/${fileName(name)}.js`, `export * from ${JSON.stringify(name)}\n`)
    files.set(`packages/${fileName(name)}.cjs`, `module.exports = require(${JSON.stringify(name)})\n`)
  }
  for (const name of TOOLS) {
    files.set(
      `packages/${fileName(name)}.js`,
      `import { installedTool } from '../scripts/command/installed-tool.js'\n` +
        `export const { ${[...namesTaken(modules, fileName(name))].toSorted().join(', ')} } = installedTool(${JSON.stringify(name)})\n`,
    )
  }
  return files
}

function namesTaken(modules: ReadonlyMap<string, string>, file: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const text of modules.values()) {
    for (const [, clause = '', from] of text.matchAll(TAKEN)) {
      if (from !== file) continue
      for (const item of clause.split(',')) names.add(item.trim().split(/\s+as\s+/)[0] ?? '')
    }
  }
  names.delete('')
  return names
}
