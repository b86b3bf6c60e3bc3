import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import launchEditor from 'launch-editor'

/** A position in a file of the project. */
export interface SourcePlace {
  /** Path in the project. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
}

/**
 * Starts an editor.
 * @param target file, line and column: `/p/src/page.tsx:3:5`.
 * @param editor its command; `undefined` finds a running one, then reads `VISUAL` and `EDITOR`.
 * @param onFault called with the reason if it does not start; without one if there is no editor.
 */
export type Launch = (
  target: string,
  editor: string | undefined,
  onFault: (file: string, reason?: string | null) => void,
) => void

const FAULT_MS = 300 // a command that is missing is known by then; an editor may run for hours
const MOST_PATH = 4_096 // characters; Linux allows no longer path

const NO_EDITOR =
  'No editor was found: none that is known is running. Name one when you start the development server: LAUNCH_EDITOR=code npm run dev'

/**
 * Finds the file that a page may have opened: a regular file of the project, and no link that leads out of it.
 * @returns its absolute path; `undefined` for anything else.
 */
export async function fileToOpen(root: string, file: string): Promise<string | undefined> {
  if (file === '' || file.length > MOST_PATH || file.includes('\0') || isAbsolute(file)) return undefined
  try {
    const [folder, found] = await Promise.all([realpath(root), realpath(resolve(root, file))])
    if (!found.startsWith(folder + sep) || found.startsWith(join(folder, 'node_modules') + sep)) return undefined
    return (await stat(found)).isFile() ? found : undefined
  } catch {
    return undefined
  }
}

/**
 * Opens a file of the project in an editor.
 * @param root the project.
 * @param editor from `LAUNCH_EDITOR`.
 * @returns why it cannot be opened; `undefined` once an editor has been asked.
 */
export async function openEditor(
  root: string,
  { file, line, column }: SourcePlace,
  editor: string | undefined,
  launch: Launch = launchEditor,
): Promise<string | undefined> {
  const found = await fileToOpen(root, file)
  if (found === undefined) return `${file.slice(0, 200)} is not a file of the project.`
  return new Promise((settle) => {
    const timer = setTimeout(settle, FAULT_MS, undefined)
    launch(`${found}:${line}:${column}`, editor, (_file, reason) => {
      clearTimeout(timer)
      settle(reason ? `The editor did not open: ${reason} Set LAUNCH_EDITOR to choose a different one.` : NO_EDITOR)
    })
  })
}
