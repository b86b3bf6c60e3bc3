import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { floorFaults } from './floors.ts'
import { houseFaults } from './house-rules.ts'
import type { SourceFile } from './house-rules.ts'
import { wordFaults } from './plain-words.ts'
import { hasTowers } from './tower-diagram.ts'

/** The project's own folders, the handbook, and the texts beside them. */
const SOURCES = ['{src,bin,scripts,templates,examples,tests}/**', 'docs/*.md', '*.md'] as const

/** Build output, packages of examples and of the benchmark's peers, and test data. */
const LEFT_OUT = ['**/dist', '**/node_modules', '**/vectors'] as const

async function readSources(root: string): Promise<SourceFile[]> {
  const entries = globSync(SOURCES, { cwd: root, exclude: LEFT_OUT, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(root, path).split(sep).join('/'),
      text: await readFile(path, 'utf8'),
    })),
  )
}

/**
 * Checks the house rules and the words of texts, and prints violations.
 * @param root the project's folder.
 * @param print receives a line for each fault.
 * @returns whether there are none.
 */
export async function checkHouse(root: string, print: (text: string) => void = console.log): Promise<boolean> {
  const sources = await readSources(root)
  const faults = [...houseFaults(sources), ...floorFaults(sources), ...wordFaults(sources)]
  for (const fault of faults) print(fault)
  return (await hasTowers(root, print)) && faults.length === 0
}
