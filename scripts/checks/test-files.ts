import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { listImports } from './import-list.ts'
import { ArgumentFault } from './test-arguments.ts'

/** Projects of `vitest.config.ts`, each with the folder of its name under `tests`. */
const PROJECTS = ['unit', 'http', 'browser', 'engines', 'ops', 'package', 'soak'] as const

/** A project of `vitest.config.ts`. */
export type TestProject = (typeof PROJECTS)[number]

const TEST_FILE = /\.test\.tsx?$/
const BUILT_SERVER = 'tests/support/built-server.ts'

/**
 * Lists the test files of all projects.
 * @param root the project's folder.
 * @returns paths relative to it, with `/`, sorted.
 */
export async function listTestFiles(root: string): Promise<string[]> {
  // Applications that start as a clone may remove folders that they do not need.
  const folders = PROJECTS.map((project) => join(root, 'tests', project)).filter((folder) => existsSync(folder))
  const entries = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })))
  return entries
    .flat()
    .filter((entry) => entry.isFile() && TEST_FILE.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
}

/**
 * Chooses the files whose path contains one of the words, ignoring case.
 * @param files from `listTestFiles`.
 * @param words may also be paths: relative to the project, or absolute.
 * @param root the project's folder.
 * @throws {ArgumentFault} for a word that matches nothing, because its tests would silently not run.
 */
export function chooseFiles(files: readonly string[], words: readonly string[], root: string): string[] {
  const wanted = words.map((word) => {
    const path = word.startsWith('/') ? relative(root, word) : posix.normalize(word)
    const chosen = files.filter((file) => file.toLowerCase().includes(path.toLowerCase()))
    if (chosen.length === 0) throw new ArgumentFault(`No test file has "${word}" in its path.`)
    return chosen
  })
  const chosen = new Set(wanted.flat())
  return files.filter((file) => chosen.has(file))
}

/** Groups files by their project, in the order in which the projects run. */
export function groupByProject(files: readonly string[]): (readonly [TestProject, readonly string[]])[] {
  return PROJECTS.map(
    (project) => [project, files.filter((file) => file.startsWith(`tests/${project}/`))] as const,
  ).filter(([, own]) => own.length > 0)
}

/**
 * Whether a test file uses the build of the reference application: it imports, directly or indirectly, the server's
 * build.
 * @param file path in the project.
 * @param read returns the text of a file of the project.
 */
export function needsBuild(file: string, read: (path: string) => string): boolean {
  const seen = new Set<string>()
  const waiting = [file]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (path === BUILT_SERVER) return true
    if (seen.has(path)) continue
    seen.add(path)
    for (const { specifier, typeOnly } of listImports(read(path))) {
      const target = posix.join(posix.dirname(path), specifier)
      if (specifier.startsWith('.') && !typeOnly && /^tests\/.*\.tsx?$/.test(target)) waiting.push(target)
    }
  }
  return false
}

/** Reads a file of the project, for `needsBuild`: `''` for a path that a test only quotes. */
export function projectReader(root: string): (path: string) => string {
  return (path) => {
    const file = resolve(root, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
}
