/**
 * Draws the floors of the server and of the toolchain into ARCHITECTURE.md, in the order that the rules check.
 * `npm run format` runs it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { TOWERS } from './floors.ts'

const DOCUMENT = 'ARCHITECTURE.md'
const DRAWN = ['src/server', 'scripts/build', 'scripts/dev'] as const
const END = '<!-- end of tower -->'

/** The tower of a folder as a Mermaid flowchart, highest floor first. */
export function towerDiagram(folder: string): string {
  const floors = (TOWERS[folder] ?? []).toReversed()
  const boxes = floors.map((rooms, index) => `  f${floors.length - 1 - index}["${rooms.map(named).join(' · ')}"]`)
  const arrows = floors.map((_rooms, index) => `f${floors.length - 1 - index}`).join(' --> ')
  return ['```mermaid', 'flowchart TB', ...boxes, `  ${arrows}`, '```'].join('\n')
}

function named(room: string): string {
  return room === '*' ? 'all other files' : room
}

/**
 * Inserts the diagram between its two marks.
 * @throws {Error} for a text without the marks.
 */
export function withTower(text: string, folder: string): string {
  const begin = `<!-- tower of ${folder}: drawn by \`npm run format\` from scripts/checks/floors.ts -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error(`ARCHITECTURE.md has no place for the tower of ${folder}: ${begin} … ${END}`)
  return `${text.slice(0, from)}${begin}\n\n${towerDiagram(folder)}\n\n${text.slice(to)}`
}

/** @returns whether the diagrams in ARCHITECTURE.md are up to date. */
export async function hasTowers(root: string, print: (text: string) => void): Promise<boolean> {
  const text = await readFile(resolve(root, DOCUMENT), 'utf8')
  const stale = DRAWN.filter((folder) => withTower(text, folder) !== text)
  for (const folder of stale) {
    print(`${DOCUMENT}: the picture of ${folder} does not show its floors. Draw it again: npm run format`)
  }
  return stale.length === 0
}

if (import.meta.main) {
  const path = resolve(import.meta.dirname, '../..', DOCUMENT)
  const text = await readFile(path, 'utf8')
  const drawn = DRAWN.reduce(withTower, text)
  if (drawn !== text) await writeFile(path, drawn)
}
