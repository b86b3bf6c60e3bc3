import { readFile, readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { floorFaults } from './floors.ts'
import { houseFaults } from './house-rules.ts'
import type { SourceFile } from './house-rules.ts'
import { hasTower } from './tower-diagram.ts'

const FOLDERS = ['src', 'scripts', 'tests'] as const

/** Reads every file of the project's own folders, except build output and test data. */
async function readSources(root: string): Promise<SourceFile[]> {
  const entries = await Promise.all(
    FOLDERS.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
  )
  const paths = entries
    .flat()
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/[\\/](?:dist|node_modules|vectors)[\\/]/.test(path))
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(root, path).split(sep).join('/'),
      text: await readFile(path, 'utf8'),
    })),
  )
}

/**
 * Checks the house rules and prints violations.
 * @param root the project's folder.
 * @param print receives a line for each fault.
 * @returns whether there are none.
 */
export async function checkHouse(root: string, print: (text: string) => void = console.log): Promise<boolean> {
  const sources = await readSources(root)
  const faults = [...houseFaults(sources), ...floorFaults(sources)]
  for (const fault of faults) print(fault)
  return (await hasTower(root, print)) && faults.length === 0
}
