import { resolve } from 'node:path'
import { isPackageFile } from '../../build/runtime.ts'
import type { DevGeneration } from './dev-build.ts'
import { fileOf } from './graph-check.ts'

const SOURCE = /\.[cm]?[jt]sx?$/

/** The newest generation of the sources, for everything that shows it. */
export interface NewestBuild {
  /** The one that pages and the server run; `undefined` before the first. */
  current(): DevGeneration | undefined
  /** A build has succeeded: its files are known. */
  built(generation: DevGeneration): void
  /** Pages and the server run it from now on. */
  shown(generation: DevGeneration): void
  /** The files of the newest build, those of packages left out: also linked packages of a workspace. Absolute paths. */
  files(): readonly string[]
  /** Whether a file is code of the newest build, by its path in the project. */
  isSource(path: string): boolean
  /** Whether it is part of that build's browser bundle. */
  isInBrowser(path: string): boolean
}

/** @param root the project. */
export function createNewestBuild(root: string): NewestBuild {
  const state: { current?: DevGeneration; newest?: DevGeneration } = {}
  return {
    current: () => state.current,
    built: (generation) => void (state.newest = generation),
    shown: (generation) => void (state.current = generation),
    files() {
      const { browser, server } = state.newest ?? {}
      const keys = Object.keys({ ...browser?.inputs, ...server?.metafile.inputs }).map(fileOf)
      return [...new Set(keys)].map((key) => resolve(root, key)).filter((file) => !isPackageFile(file))
    },
    isSource(path) {
      if (state.newest === undefined || !SOURCE.test(path)) return false
      const { browser, server } = state.newest
      return [browser.inputs, server.metafile.inputs, server.runtime.inputs].some((all) => Object.hasOwn(all, path))
    },
    isInBrowser: (path) => Object.hasOwn(state.newest?.browser.inputs ?? {}, path),
  }
}
