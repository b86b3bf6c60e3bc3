import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const FOLDER_MODE = 0o700 // what is kept there is nobody else's business

/**
 * Makes a folder and those around it, where they are missing. Node's own way (`recursive`) never returns in a folder
 * that takes none and says `ENOENT`, as `/proc` does (seen in Node 26.10): the whole server would stand still.
 * @throws with the system's code where it cannot be made, `EEXIST` where a file has the name.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    // Another process may be making it too; and a mount that is read-only says so only of what is missing.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
    if (code !== 'ENOENT' || dirname(path) === path) throw thrown
    makeFolder(dirname(path))
    try {
      mkdirSync(path, { mode: FOLDER_MODE })
    } catch (again) {
      if ((again as NodeJS.ErrnoException).code !== 'EEXIST') throw again
    }
  }
}
