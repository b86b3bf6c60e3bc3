import { existsSync, watch } from 'node:fs'
import { basename, join, sep } from 'node:path'

/** Watches folders until it is closed. */
export interface SourceWatcher {
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
    if (basename(name).startsWith('.') || name.split(sep).includes('node_modules')) return
    changed.add(join(folder, name))
    clearTimeout(pending.timer)
    pending.timer = setTimeout(() => {
      const files = [...changed]
      changed.clear()
      onChange(files)
    }, SETTLE_MS)
  }

  const watchers = folders
    .filter((folder) => existsSync(folder))
    .map((folder) => watch(folder, { recursive: true }, (_event, name) => name !== null && note(folder, name)))
  return {
    close() {
      clearTimeout(pending.timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}
