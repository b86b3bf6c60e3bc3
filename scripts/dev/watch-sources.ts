import { existsSync, watch } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

/** Watches folders until it is closed. */
export interface SourceWatcher {
  /** Watches further files outside of the folders; those of packages are left out. */
  include(files: Iterable<string>): void
  close(): void
}

const SETTLE_MS = 20 // editors and version control write several files, and one file in several steps

/**
 * Reports changes in batches.
 * @param folders watched recursively, without packages and hidden files.
 * @param onChange receives absolute paths; the files may no longer exist.
 */
export function watchSources(folders: readonly string[], onChange: (files: readonly string[]) => void): SourceWatcher {
  const changed = new Set<string>()
  const pending: { timer?: NodeJS.Timeout } = {}

  function note(folder: string, name: string): void {
    changed.add(join(folder, name))
    clearTimeout(pending.timer)
    pending.timer = setTimeout(() => {
      const files = [...changed]
      changed.clear()
      onChange(files)
    }, SETTLE_MS)
  }

  const isSource = (name: string): boolean =>
    !basename(name).startsWith('.') && !name.split(sep).includes('node_modules')
  const watchers = folders
    .filter((folder) => existsSync(folder))
    .map((folder) =>
      watch(folder, { recursive: true }, (_event, name) => name !== null && isSource(name) && note(folder, name)),
    )
  const included = new Set<string>()
  const around = new Set<string>()

  function include(file: string): void {
    if (file.split(sep).includes('node_modules') || folders.some((folder) => file.startsWith(folder + sep))) return
    included.add(file)
    const folder = dirname(file)
    if (around.has(folder) || !existsSync(folder)) return
    around.add(folder)
    const noteIncluded = (name: string): void => void (included.has(join(folder, name)) && note(folder, name))
    watchers.push(watch(folder, (_event, name) => name !== null && noteIncluded(name)))
  }

  return {
    include(files) {
      for (const file of files) include(file)
    },
    close() {
      clearTimeout(pending.timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}
