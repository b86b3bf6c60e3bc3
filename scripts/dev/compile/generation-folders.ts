import { link, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Metafile, OutputFile } from 'esbuild'
import { START_SCRIPT, type ServerRuntime } from './server-runtime.ts'

/** What a generation of the application's server runs. */
export interface DevServerBundle {
  /** The application's own modules. */
  readonly files: readonly OutputFile[]
  readonly metafile: Metafile
  /** Everything else, the same object as long as it has not changed. */
  readonly runtime: ServerRuntime
  /** Changes when anything that the server runs has changed. */
  readonly hash: string
}

/** Puts generations of the application's server on disk. */
export interface GenerationFolders {
  /** Makes the folder for an inspection's bundle, beside a link to the runtime. It is the same for all inspections. */
  forInspection(runtime: ServerRuntime): Promise<string>
  /** Starts to write the modules of the next generation, before everything else of it is known. */
  stage(files: readonly OutputFile[]): void
  /**
   * Writes a generation. Each has its own folder: the previous server may still load files from its own.
   * @param manifest as JSON.
   * @returns the script that starts it, and the folder to tell it.
   */
  write(server: DevServerBundle, manifest: string): Promise<{ readonly start: string; readonly folder: string }>
}

/** A generation on disk. */
interface GenerationFolder {
  readonly folder: string
  readonly runtime: string
  /** Where files are, by name and contents. */
  readonly files: ReadonlyMap<string, string>
}

/** The folder of the next generation, of which only the modules are known. */
interface NextFolder {
  readonly folder: string
  readonly files: readonly OutputFile[]
  readonly places: Promise<GenerationFolder['files']>
}

/** @param out the folder for all of them. */
export function createGenerationFolders(out: string): GenerationFolders {
  const state: { runtime?: ServerRuntime; runtimes: number; generations: number; next?: NextFolder } = {
    runtimes: 0,
    generations: 0,
  }
  const folders: GenerationFolder[] = []
  const runtimes = new Set<string>()

  async function writeRuntime(runtime: ServerRuntime): Promise<string> {
    const isWritten = state.runtime === runtime
    if (!isWritten) state.runtimes += 1
    const folder = join(out, `runtime-${state.runtimes}`)
    if (isWritten) return folder
    runtimes.add(folder)
    await mkdir(folder, { recursive: true })
    await Promise.all(runtime.files.map(({ path, contents }) => writeFile(join(folder, basename(path)), contents)))
    state.runtime = runtime
    return folder
  }

  function stage(files: readonly OutputFile[]): NextFolder {
    if (state.next?.files === files) return state.next
    const unused = state.next
    state.generations += 1
    const folder = join(out, String(state.generations))
    const places = writeModules(join(folder, 'server'), files, folders.at(-1)?.files)
    places.catch(() => undefined) // `write` reports it
    state.next = { folder, files, places }
    void unused?.places.finally(() => remove(unused.folder)).catch(() => undefined)
    return state.next
  }

  const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

  /** Keeps what the newest generation and the one before it use. */
  async function removeOld(): Promise<void> {
    const old = folders.splice(0, folders.length - 2)
    const unused = [...runtimes].filter((folder) => folders.every(({ runtime }) => runtime !== folder))
    for (const folder of unused) runtimes.delete(folder)
    await Promise.all([...old.map(({ folder }) => folder), ...unused].map(remove))
  }

  return {
    async forInspection(runtime) {
      const shared = await writeRuntime(runtime)
      const folder = join(out, 'inspection')
      await remove(join(folder, 'runtime'))
      await mkdir(join(folder, 'server'), { recursive: true })
      await linkFolder(shared, join(folder, 'runtime'))
      return join(folder, 'server')
    },
    stage: (files) => void stage(files),
    async write({ files, runtime }, manifest) {
      const { folder, places } = stage(files)
      delete state.next
      const shared = await writeRuntime(runtime)
      await mkdir(join(folder, 'public'), { recursive: true })
      await Promise.all([
        places,
        writeFile(join(folder, 'manifest.json'), manifest),
        linkFolder(shared, join(folder, 'runtime')),
      ])
      folders.push({ folder, runtime: shared, files: await places })
      await removeOld()
      return { start: join(shared, START_SCRIPT), folder }
    },
  }
}

/** @param onDisk files that an earlier generation has, and where. */
async function writeModules(
  folder: string,
  files: readonly OutputFile[],
  onDisk: GenerationFolder['files'] | undefined,
): Promise<GenerationFolder['files']> {
  await mkdir(folder, { recursive: true })
  const write = async ({ path, contents, hash }: OutputFile): Promise<readonly [string, string]> => {
    const name = basename(path)
    const key = `${name} ${hash}`
    await writeOrLink(join(folder, name), contents, onDisk?.get(key))
    return [key, join(folder, name)]
  }
  return new Map(await Promise.all(files.map(write)))
}

/** A junction is the one kind of link to a folder that Windows allows everybody. */
function linkFolder(target: string, path: string): Promise<void> {
  return symlink(target, path, 'junction')
}

/** @param same a file with these contents; not every file system has links to files. */
async function writeOrLink(path: string, contents: Uint8Array, same: string | undefined): Promise<void> {
  const isLinked = same !== undefined && (await isDone(link(same, path)))
  if (!isLinked) await writeFile(path, contents)
}

function isDone(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
