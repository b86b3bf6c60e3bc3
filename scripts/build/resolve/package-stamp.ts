import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files that package managers write when they install: the manifest, lock files, and their records in `node_modules`. */
const RECORDS = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-state.yml',
  'node_modules/.yarn-integrity',
] as const

/** Paths of these files in a project: there or not. */
export function packageRecords(root: string): readonly string[] {
  return RECORDS.map((name) => join(root, name))
}

/** Changes when packages are installed, for the project or for the workspace around it. */
export function packageStamp(root: string): string {
  const stamps: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    for (const name of RECORDS) stamps.push(fileStamp(join(folder, name)))
    if (dirname(folder) === folder) return stamps.join(' ')
  }
}

/**
 * Changes when a file is written; the same for all files that are not there. Package managers give files a fixed time of
 * modification, but not of change.
 */
export function fileStamp(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? '-' : `${found.ctimeMs}:${found.mtimeMs}:${found.size}:${found.ino}`
}
