import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { DevServerBundle } from './dev-build.ts'
import { START_SCRIPT, type ServerRuntime } from './server-runtime.ts'

/** Puts generations of the application's server on disk. */
export interface GenerationFolders {
  /**
   * Writes a generation. Each has its own folder: the previous server may still load files from its own.
   * @param manifest as JSON.
   * @returns the script that starts it, and the folder to tell it.
   */
  write(server: DevServerBundle, manifest: string): Promise<{ readonly start: string; readonly folder: string }>
}

/** @param out the folder for all of them. */
export function createGenerationFolders(out: string): GenerationFolders {
  const state: { runtime?: ServerRuntime; runtimes: number; generations: number } = { runtimes: 0, generations: 0 }

  async function writeRuntime(runtime: ServerRuntime): Promise<string> {
    const isWritten = state.runtime === runtime
    if (!isWritten) state.runtimes += 1
    const folder = join(out, `runtime-${state.runtimes}`)
    if (isWritten) return folder
    await mkdir(folder, { recursive: true })
    await writeFiles(folder, runtime.files)
    await remove(`runtime-${state.runtimes - 2}`)
    state.runtime = runtime
    return folder
  }

  const remove = (name: string): Promise<void> => rm(join(out, name), { recursive: true, force: true })

  return {
    async write({ files, runtime }, manifest) {
      state.generations += 1
      const folder = join(out, String(state.generations))
      const shared = await writeRuntime(runtime)
      await Promise.all([
        mkdir(join(folder, 'server'), { recursive: true }),
        mkdir(join(folder, 'public'), { recursive: true }),
      ])
      await Promise.all([
        writeFiles(join(folder, 'server'), files),
        writeFile(join(folder, 'manifest.json'), manifest),
        symlink(shared, join(folder, 'runtime'), 'junction'), // the one kind that Windows allows everybody
      ])
      await remove(String(state.generations - 2))
      return { start: join(shared, START_SCRIPT), folder }
    },
  }
}

async function writeFiles(folder: string, files: DevServerBundle['files']): Promise<void> {
  await Promise.all(files.map(({ path, contents }) => writeFile(join(folder, basename(path)), contents)))
}
