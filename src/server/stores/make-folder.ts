import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const FOLDER_MODE = 0o700 // private data

/**
 * Creates a folder and its missing parents. Node's `recursive` option never returns inside a folder that refuses
 * entries with `ENOENT`, such as `/proc` (seen in Node 26.10), and would block the whole server.
 * @throws with the system's code if it cannot be created, `EEXIST` if a file has the name.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    // Another process may be creating it, and a read-only mount reports itself only for missing folders.
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
