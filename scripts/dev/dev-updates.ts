import { resolve } from 'node:path'
import type { DevMessage } from '../../src/client/dev/dev-messages.ts'
import { displayPath } from '../build/build-options.ts'
import { isPackageFile } from '../build/runtime.ts'
import { fileOf, type DevBuild, type DevGeneration } from './dev-build.ts'
import type { DevChannel } from './dev-channel.ts'
import { buildFailures, failureText } from './dev-failures.ts'
import { devManifest } from './dev-manifest.ts'
import { createGenerationFolders } from './generation-folders.ts'
import type { ModuleServer } from './module-server.ts'
import { planReaction } from './plan-reaction.ts'
import { checkSyntax, planQuickUpdate } from './quick-update.ts'
import type { ServerProcess } from './server-process.ts'
import { bundleVendors, importedPackageFiles, type VendorBundle } from './vendor-bundle.ts'

const SOURCE = /\.[cm]?[jt]sx?$/

interface Adopted {
  readonly generation: DevGeneration
  readonly vendors: VendorBundle
  readonly packages: string
}

interface Current extends Adopted {
  readonly manifest: string
}

/** Options of the updates. */
export interface UpdateOptions {
  /** The project. */
  readonly root: string
  /** Folder for everything that has to be on disk. */
  readonly out: string
  /** The application's. */
  readonly basePath?: string | undefined
  /** Prints a line. */
  print(text: string): void
}

/** The parts that serve sources to browsers. */
interface Parts {
  readonly build: DevBuild
  readonly modules: ModuleServer
  readonly channel: DevChannel
}

/** The newest state of the sources. */
export interface Updates {
  /** @returns whether the sources build; if not, pages have not been told of these files yet. */
  update(files: readonly string[]): Promise<boolean>
  current(): Current | undefined
  /** The files of the newest build, those of packages left out: also linked packages of a workspace. Absolute paths. */
  sources(): readonly string[]
  /** Whether a file is code of the newest build, by its path in the project. */
  isSource(path: string): boolean
  /** Whether it is part of that build's browser bundle. */
  isInBrowser(path: string): boolean
}

/** @param run replaces the application's server by one that starts at this file. */
export function createUpdates(
  { root, out, basePath, print }: UpdateOptions,
  { build, modules, channel }: Parts,
  run: ServerProcess['replace'],
): Updates {
  const state: { current?: Current; known?: DevGeneration } = {}
  const folders = createGenerationFolders(out)

  /** Updates everything to the newest state of the sources; `undefined` while they do not build. */
  async function adopt(files: readonly string[]): Promise<Adopted | undefined> {
    try {
      const generation = await build.rebuild(files)
      state.known = generation
      const imported = importedPackageFiles(root, generation.browser)
      const packages = JSON.stringify([...imported].toSorted())
      const former = state.current
      if (generation.warnings !== '' && generation.warnings !== former?.generation.warnings) print(generation.warnings)
      const vendors = former?.packages === packages ? former.vendors : await bundleVendors(root, imported, basePath)
      modules.adopt(generation, vendors)
      return { generation, vendors, packages }
    } catch (error) {
      fail(error)
      return undefined
    }
  }

  function fail(error: unknown): void {
    const failures = buildFailures(root, error)
    print(`The build failed.\n\n${failures.map(failureText).join('\n\n')}\n`)
    channel.buildFailed(failures)
  }

  /**
   * Tells pages of a save before the build, where that needs none.
   * @returns whether they have been told everything.
   */
  async function tellEarly({ generation }: Current, changed: readonly string[]): Promise<boolean> {
    if (changed.length === 0) return false
    const update = await planQuickUpdate(generation, changed, modules)
    if (update !== undefined) channel.send(update)
    return update !== undefined
  }

  /** Other packages mean another React, and a module that does not compile alone cannot be an update. */
  async function reactionTo(
    former: Adopted,
    next: Adopted,
    changed: readonly string[],
  ): Promise<readonly DevMessage[]> {
    const reload: readonly DevMessage[] = [{ type: 'reload' }]
    if (former.vendors !== next.vendors) return reload
    return planReaction(former.generation, next.generation, changed, modules).catch(() => reload)
  }

  return {
    async update(files) {
      const former = state.current
      const changed = files.map((file) => displayPath(root, file))
      try {
        await checkSyntax(root, changed)
      } catch (error) {
        fail(error)
        return false
      }
      const isTold = former !== undefined && (await tellEarly(former, changed))
      const adopted = await adopt(files)
      if (adopted === undefined) return false
      const reaction = former === undefined || isTold ? [] : await reactionTo(former, adopted, changed)
      // The reaction gives changed modules other URLs, which the manifest names.
      const manifest = JSON.stringify(devManifest(adopted.generation, modules.urls, adopted.vendors))
      const current = { ...adopted, manifest }
      const sameServer = former?.generation.server.hash === current.generation.server.hash
      if (!sameServer || former?.manifest !== current.manifest) {
        const { start, folder } = await folders.write(current.generation.server, manifest)
        run(start, folder)
      }
      state.current = current
      channel.built()
      for (const message of reaction) channel.send(message)
      return true
    },
    current: () => state.current,
    sources() {
      const { known } = state
      const keys = Object.keys({ ...known?.browser.inputs, ...known?.server.metafile.inputs }).map(fileOf)
      return [...new Set(keys)].map((key) => resolve(root, key)).filter((file) => !isPackageFile(file))
    },
    isSource(path) {
      const { known } = state
      if (known === undefined || !SOURCE.test(path)) return false
      const { server } = known
      return [known.browser.inputs, server.metafile.inputs, server.runtime.inputs].some((inputs) =>
        Object.hasOwn(inputs, path),
      )
    },
    isInBrowser: (path) => Object.hasOwn(state.known?.browser.inputs ?? {}, path),
  }
}
