import { existsSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { pollFolders, type FolderPoll } from './poll-folders.ts'

/** Watches folders until it is closed. */
interface SourceWatcher {
  /** Watches further files outside of the folders; those of packages are left out. */
  include(files: Iterable<string>): void
  close(): void
}

const SETTLE_MS = 20 // editors and version control write several files, and one file in several steps

const FALLBACK_POLL_MS = 1_000 // not asked for, so it costs little

/** How a watcher notices changes. */
export interface WatchOptions {
  /** Milliseconds from one look at the files to the next. Default: the system reports changes. */
  readonly pollMs?: number | undefined
  /** Prints a line: that the system watches no more files. */
  print?(text: string): void
  /** Of Node, which takes `recursive` as an option. */
  readonly watch?: typeof watch
}

/**
 * Reports changes in batches. Where the system refuses to watch more files, it polls them.
 * @param folders watched recursively, without packages and hidden files.
 * @param onChange receives absolute paths; the files may no longer exist.
 */
export function watchSources(
  folders: readonly string[],
  onChange: (files: readonly string[]) => void,
  { pollMs, print, watch: open = watch }: WatchOptions = {},
): SourceWatcher {
  const changed = new Set<string>()
  const state: { timer?: NodeJS.Timeout; poll?: FolderPoll; isClosed: boolean } = { isClosed: false }
  const watchers: FSWatcher[] = []
  const included = new Set<string>()
  const around = new Set<string>()

  function note(path: string): void {
    changed.add(path)
    clearTimeout(state.timer)
    state.timer = setTimeout(() => {
      const files = [...changed]
      changed.clear()
      onChange(files)
    }, SETTLE_MS)
  }

  function poll(everyMs: number): void {
    if (state.poll !== undefined || state.isClosed) return
    for (const watcher of watchers.splice(0)) watcher.close()
    state.poll = pollFolders(folders, everyMs, isIgnored, note)
    for (const file of included) state.poll.include(file)
  }

  function failed(error: unknown): void {
    const limit = limitOf(error)
    if (limit === undefined) throw error
    if (state.poll === undefined) {
      print?.(
        `The system watches no more files (${limit.code}, its limit is ${limit.name}): ` +
          `saves are found by polling. Raise the limit, or poll from the start with --poll.`,
      )
    }
    poll(FALLBACK_POLL_MS)
  }

  function watchFolder(folder: string, recursive: boolean, isOurs: (name: string) => boolean): void {
    if (state.poll !== undefined) return
    try {
      const watcher = open(folder, { recursive }, (_event, name) => {
        if (name !== null && isOurs(name)) note(join(folder, name))
      })
      watchers.push(watcher.on('error', failed))
    } catch (error) {
      failed(error)
    }
  }

  function include(file: string): void {
    if (isOfPackage(file) || folders.some((folder) => file.startsWith(folder + sep))) return
    included.add(file)
    state.poll?.include(file)
    const folder = dirname(file)
    if (around.has(folder) || !existsSync(folder)) return
    around.add(folder)
    watchFolder(folder, false, (name) => included.has(join(folder, name)))
  }

  if (pollMs !== undefined) poll(pollMs)
  for (const folder of folders) if (existsSync(folder)) watchFolder(folder, true, isSource)

  return {
    include(files) {
      for (const file of files) include(file)
    },
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
      state.poll?.close()
      for (const watcher of watchers) watcher.close()
    },
  }
}

/** Not what a package manager notes beside the packages. */
function isOfPackage(file: string): boolean {
  const isRecord = basename(dirname(file)) === 'node_modules' && basename(file).startsWith('.')
  return file.split(sep).includes('node_modules') && !isRecord
}

/** @param name the path below a watched folder. */
function isSource(name: string): boolean {
  return !name.split(sep).some(isIgnored)
}

function isIgnored(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/** The limits of inotify: how many files one user watches, and how many watchers there are. Source: inotify(7). */
const LIMITS: Readonly<Record<string, string>> = {
  ENOSPC: 'fs.inotify.max_user_watches',
  EMFILE: 'fs.inotify.max_user_instances',
}

function limitOf(error: unknown): { readonly code: string; readonly name: string } | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const name = LIMITS[code]
  return name === undefined ? undefined : { code, name }
}
