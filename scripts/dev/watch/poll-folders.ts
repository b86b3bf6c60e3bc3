import { statSync, type Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Looks for changes by reading folders again and again. */
export interface FolderPoll {
  /** Looks at one more file, outside of the folders. */
  include(file: string): void
  close(): void
}

const MOST_FILES = 20_000 // an application has fewer sources; bounds what a look costs

/**
 * Polls folders, for file systems that report no changes: those of networks, virtual machines and some containers. The next
 * look starts `everyMs` after the end of the last one.
 * @param isIgnored whether a file or folder of this name is left out, with everything below it.
 * @param onChange called with each path that is new, changed or gone since the last look.
 */
export function pollFolders(
  folders: readonly string[],
  everyMs: number,
  isIgnored: (name: string) => boolean,
  onChange: (path: string) => void,
): FolderPoll {
  const included = new Map<string, string>()
  const state: { timer?: NodeJS.Timeout; isClosed: boolean; known?: ReadonlyMap<string, string> } = { isClosed: false }

  async function look(): Promise<void> {
    const found = new Map<string, string>()
    for (const folder of folders) await collect(folder, isIgnored, found)
    if (state.isClosed) return
    const { known } = state
    state.known = found
    if (known !== undefined) for (const path of differences(known, found)) onChange(path)
    for (const [file, before] of included) {
      const now = versionOf(statSync(file, { throwIfNoEntry: false }))
      included.set(file, now)
      if (now !== before) onChange(file)
    }
    state.timer = setTimeout(() => void look(), everyMs)
  }

  void look()
  return {
    include(file) {
      if (!included.has(file)) included.set(file, versionOf(statSync(file, { throwIfNoEntry: false })))
    },
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
    },
  }
}

/** Adds the version of each file below a folder. What is removed meanwhile is left out. */
async function collect(
  folder: string,
  isIgnored: (name: string) => boolean,
  found: Map<string, string>,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const own = entries.filter(({ name }) => !isIgnored(name))
  await Promise.all(
    own.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return collect(path, isIgnored, found)
      if (found.size < MOST_FILES) found.set(path, versionOf(await stat(path).catch(() => undefined)))
    }),
  )
}

function versionOf(stats: Pick<Stats, 'mtimeMs' | 'size' | 'ino'> | undefined): string {
  return stats === undefined ? '' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const changed = [...after].flatMap(([path, version]) => (before.get(path) === version ? [] : [path]))
  return [...changed, ...[...before.keys()].filter((path) => !after.has(path))]
}
