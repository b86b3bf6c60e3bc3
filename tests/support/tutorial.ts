/** The tutorial of the handbook as steps that a test can take. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fencedBlocks } from '../unit/app/handbook-samples.ts'

const CHAPTER = resolve(import.meta.dirname, '../../docs/tutorial.md')
const TABLE = 'src/app/routes.ts'

/** A row of a table "URL, status, shows". */
export interface Shown {
  readonly path: string
  readonly status: number
  readonly text: string
}

/** One section of the tutorial. */
export interface TutorialStep {
  readonly title: string
  /** Blocks for a shell, in their order. */
  readonly commands: readonly string[]
  readonly shown: readonly Shown[]
  /** Blocks for files, in their order. */
  readonly edits: readonly string[]
}

/** Reads the steps of the chapter. */
export async function tutorialSteps(): Promise<readonly TutorialStep[]> {
  const [, ...sections] = (await readFile(CHAPTER, 'utf8')).split(/^## (?=Step \d)/m)
  return sections.map((section) => {
    const text = section.split(/^## /m)[0] ?? ''
    const blocks = fencedBlocks(text)
    return {
      title: text.slice(0, text.indexOf('\n')),
      commands: blocks.filter(({ language }) => language === 'bash').map(({ code }) => code),
      edits: blocks.filter(({ language }) => language !== 'bash').map(({ code }) => code),
      shown: [...text.matchAll(/^\| `(\/[^`]*)` \| (\d{3}) \| (.*?) ?\|$/gm)].map(
        ([, path = '', status, text = '']) => {
          return { path, status: Number(status), text }
        },
      ),
    }
  })
}

/**
 * Does what the blocks say to the files of a folder: a block with the name of a file is that file. If it begins indented, it
 * replaces the lines of the file from its first to its last. Entries of the route table go to the end of the table.
 * @throws {Error} for a block that fits nowhere.
 */
export async function applyEdits(root: string, edits: readonly string[]): Promise<void> {
  for (const code of edits) {
    const [line = '', name] = /^(?:\/\/|#) (\S+)\n/.exec(code) ?? []
    const path = join(root, name ?? TABLE)
    const text = `${code.slice(line.length)}\n`
    await mkdir(dirname(path), { recursive: true })
    if (name === undefined) await writeFile(path, withEntries(await readFile(path, 'utf8'), text))
    else if (/^\s/.test(text)) await writeFile(path, withLines(await readFile(path, 'utf8'), text))
    else await writeFile(path, text)
  }
}

function withEntries(table: string, entries: string): string {
  if (!entries.startsWith("'/"))
    throw new Error(`This block has neither a file nor entries of the route table:\n${entries}`)
  return table.replace(/^\}\)$/m, () => `${entries.replaceAll(/^(?=.)/gm, '  ')}})`)
}

function withLines(file: string, text: string): string {
  const lines = text.trimEnd().split('\n')
  const [first = '', last = ''] = [lines[0], lines.at(-1)]
  const start = file.indexOf(`${first}\n`)
  const end = file.indexOf(`${last}\n`, start)
  if (start < 0 || end < 0) throw new Error(`The file has no lines that begin and end so:\n${text}`)
  return file.slice(0, start) + text + file.slice(end + last.length + 1)
}
