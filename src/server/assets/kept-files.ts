import { ENCODING_SUFFIX, ENCODINGS, type Encoding } from '../http/content-encoding.ts'
import { keptFiles, readKeptBuilds, type KeptBuild } from './kept-builds.ts'

/** A file that may be sent. */
export interface AssetFile {
  readonly name: string
  /** Absolute path of its folder. */
  readonly root: string
  /** Codings in which it also exists. */
  readonly encodings: readonly Encoding[]
}

/** Files of kept builds. */
export interface KeptFiles {
  /**
   * Finds a file. For an unknown name it reads the folders, at most once in `LOOK_MS` for all callers together.
   * @param missing the known file that no longer exists.
   */
  find(name: string, missing?: AssetFile): Promise<AssetFile | undefined>
}

/** Options of kept files. */
interface KeptFilesOptions {
  /** Absolute paths of folders of kept builds, in order of precedence. */
  readonly folders: readonly string[]
  readonly keepMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Unknown names cause reads of a few folders, at most this often. */
const LOOK_MS = 1_000

/** Reads nothing before the first lookup. */
export function createKeptFiles({ folders, keepMs, now }: KeptFilesOptions): KeptFiles {
  /** By build; the files of a build never change. */
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
      // An unreadable folder has no files; the operator was warned at the start.
      const kept = await readKeptBuilds(folder, { now: now(), keepMs }).catch(() => [])
      for (const build of kept) seen.set(build.folder, builds.get(build.folder) ?? (await filesOf(build)))
    }
    builds = seen
  }
}

async function filesOf(build: KeptBuild): Promise<ReadonlyMap<string, AssetFile>> {
  return listForms(await keptFiles(build).catch(() => []), build.folder)
}

/** Separates files from their compressed variants. */
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
