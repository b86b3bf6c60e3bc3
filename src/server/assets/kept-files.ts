import { ENCODING_SUFFIX, ENCODINGS, type Encoding } from '../http/content-encoding.ts'
import { keptFiles, readKeptBuilds, type KeptBuild } from './kept-builds.ts'

/** A file that may be sent. */
export interface AssetFile {
  readonly name: string
  /** Absolute path of the folder that it is in. */
  readonly root: string
  /** Codings in which it is there, too. */
  readonly encodings: readonly Encoding[]
}

/** Files of other builds, as far as they are kept. */
export interface KeptFiles {
  /**
   * Looks for a file, and where it is not known, in the folders: at most once in `LOOK_MS` for all askers together.
   * @param missing the file that was known is no longer there.
   */
  find(name: string, missing?: AssetFile): Promise<AssetFile | undefined>
}

/** What kept files are looked for in. */
export interface KeptFilesOptions {
  /** Absolute paths of folders of kept builds; a former one goes before a later one. */
  readonly folders: readonly string[]
  readonly keepMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A name that is no file's costs a look at a few folders, and no more of them than this allows. */
const LOOK_MS = 1_000

/** Nothing is read before somebody asks. */
export function createKeptFiles({ folders, keepMs, now }: KeptFilesOptions): KeptFiles {
  /** By build: its files never change. */
  let builds = new Map<string, ReadonlyMap<string, AssetFile>>()
  let looking: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  return {
    async find(name, missing) {
      const known = lookUp(name)
      if (known !== undefined && known.root !== missing?.root) return known
      if (looking === undefined && now() - lookedAt >= LOOK_MS) {
        looking = look().finally(() => {
          looking = undefined
          lookedAt = now()
        })
      }
      await looking
      const found = lookUp(name)
      return found?.root === missing?.root ? undefined : found
    },
  }

  function lookUp(name: string): AssetFile | undefined {
    for (const files of builds.values()) {
      const file = files.get(name)
      if (file !== undefined) return file
    }
    return undefined
  }

  async function look(): Promise<void> {
    const seen = new Map<string, ReadonlyMap<string, AssetFile>>()
    for (const folder of folders) {
      // A folder that cannot be read has no files; its owner was told at the start.
      const kept = await readKeptBuilds(folder, { now: now(), keepMs }).catch(() => [])
      for (const build of kept) seen.set(build.folder, builds.get(build.folder) ?? (await filesOf(build)))
    }
    builds = seen
  }
}

async function filesOf(build: KeptBuild): Promise<ReadonlyMap<string, AssetFile>> {
  return listForms(await keptFiles(build).catch(() => []), build.folder)
}

/** Tells files from their compressed forms. */
export function listForms(all: readonly string[], root: string): ReadonlyMap<string, AssetFile> {
  const names = new Set(all)
  const suffixes = Object.values(ENCODING_SUFFIX)
  const files = new Map<string, AssetFile>()
  for (const name of names) {
    const original = suffixes.find((suffix) => name.endsWith(suffix))
    if (original !== undefined && names.has(name.slice(0, -original.length))) continue
    files.set(name, {
      name,
      root,
      encodings: ENCODINGS.filter((encoding) => names.has(name + ENCODING_SUFFIX[encoding])),
    })
  }
  return files
}
