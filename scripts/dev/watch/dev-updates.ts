import { resolve } from 'node:path'
import type { DevMessage } from '../../../src/client/dev/dev-messages.ts'
import { displayPath } from '../../build/build-options.ts'
import { describeMessages } from '../../build/esbuild-messages.ts'
import { isPackageFile } from '../../build/runtime.ts'
import { checkSyntax } from './check-syntax.ts'
import type { DevBuild, DevGeneration } from '../compile/dev-build.ts'
import type { DevChannel } from '../tell/dev-channel.ts'
import type { OnWork } from '../compile/dev-parts.ts'
import { buildFailures, failureText } from '../tell/dev-failures.ts'
import { devManifest } from '../compile/dev-manifest.ts'
import { fileOf } from '../compile/graph-check.ts'
import type { ModuleServer } from '../compile/module-server.ts'
import { planReaction } from './plan-reaction.ts'
import type { ServerProcess } from '../process/server-process.ts'

const SOURCE = /\.[cm]?[jt]sx?$/

interface Current {
  readonly generation: DevGeneration
  readonly manifest: string
}

/** Options of the updates. */
export interface UpdateOptions {
  /** The project. */
  readonly root: string
  /** Hears of each start of the server. */
  readonly onWork: OnWork
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
  /** Starts the server of the newest build, which waits until it is asked for something where pages did not need it. */
  startServer(): Promise<void>
  /** Whether a file is code of the newest build, by its path in the project. */
  isSource(path: string): boolean
  /** Whether it is part of that build's browser bundle. */
  isInBrowser(path: string): boolean
}

/**
 * @param run replaces the application's server by one that starts at this file.
 * @param again asks for an update without further files.
 */
export function createUpdates(
  { root, print, onWork }: UpdateOptions,
  { build, modules, channel }: Parts,
  { run, again }: { readonly run: ServerProcess['replace']; again(): void },
): Updates {
  const state: { current?: Current; known?: DevGeneration; updates: number } = { updates: 0 }
  const printWarnings = createWarningsPrinter(print)
  const server = createServerStart(build.folders, run, onWork)

  /** Updates everything to the newest state of the sources; `undefined` while they do not build. */
  async function adopt(files: readonly string[], isQuick: boolean): Promise<DevGeneration | undefined> {
    try {
      const generation = await (isQuick ? build.replace(files) : build.rebuild(files))
      state.known = generation
      await printWarnings(generation)
      modules.adopt(generation)
      return generation
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

  /** Other packages mean another React, and a module that does not compile alone cannot be an update. */
  async function reactionTo(
    former: DevGeneration,
    next: DevGeneration,
    changed: readonly string[],
  ): Promise<readonly DevMessage[]> {
    const reload: readonly DevMessage[] = [{ type: 'reload' }]
    if (former.vendors !== next.vendors) return reload
    return planReaction(former, next, changed, modules).catch(() => reload)
  }

  /** Shows what only a look at the whole application finds, after pages have been told of a save. */
  async function verify(): Promise<void> {
    const { updates } = state
    try {
      if (await build.verify()) return
      build.forget()
      again()
    } catch (error) {
      if (updates === state.updates) fail(error)
    }
  }

  return {
    async update(files) {
      state.updates += 1
      const former = state.current
      const changed = files.map((file) => displayPath(root, file))
      try {
        await checkSyntax(root, changed)
      } catch (error) {
        fail(error)
        return false
      }
      const isQuick = former !== undefined && (await build.keepsGraph(files))
      const early = isQuick ? await reactionTo(former.generation, former.generation, changed) : []
      const told = early.filter(({ type }) => type === 'update')
      for (const message of told) channel.send(message)
      const generation = await adopt(files, isQuick)
      if (generation === undefined) return false
      const isWaiting = former === undefined || isQuick
      const reaction = isWaiting
        ? early.filter(({ type }) => type !== 'update')
        : await reactionTo(former.generation, generation, changed)
      // The reaction gives changed modules other URLs, which the manifest names.
      const manifest = JSON.stringify(devManifest(generation, modules.urls, generation.vendors))
      const current = { generation, manifest }
      const sameServer = former?.generation.server.hash === current.generation.server.hash
      if (!sameServer || former?.manifest !== current.manifest) {
        server.prepare(current.generation.server, manifest)
      }
      // Pages that have all that is new ask the server for nothing.
      if (!told.some(isApplied) || reaction.length > 0) await server.start()
      state.current = current
      if (channel.failures.length > 0) print('The build works again.')
      channel.built()
      for (const message of reaction) channel.send(message)
      if (isQuick) void verify()
      return true
    },
    current: () => state.current,
    sources: () => sourcesOf(root, state.known),
    startServer: server.start,
    isSource: (path) => isSourceOf(state.known, path),
    isInBrowser: (path) => Object.hasOwn(state.known?.browser.inputs ?? {}, path),
  }
}

/** Prints the warnings of each build that differ from those of the build before. */
function createWarningsPrinter(print: (text: string) => void): (generation: DevGeneration) => Promise<void> {
  const state = { printed: '' }
  return async ({ warnings }) => {
    const text = warnings.length === 0 ? '' : await describeMessages(warnings, 'warning')
    if (text !== '' && text !== state.printed) print(text)
    state.printed = text
  }
}

function sourcesOf(root: string, known: DevGeneration | undefined): readonly string[] {
  const keys = Object.keys({ ...known?.browser.inputs, ...known?.server.metafile.inputs }).map(fileOf)
  return [...new Set(keys)].map((key) => resolve(root, key)).filter((file) => !isPackageFile(file))
}

function isSourceOf(known: DevGeneration | undefined, path: string): boolean {
  if (known === undefined || !SOURCE.test(path)) return false
  const { server } = known
  return [known.browser.inputs, server.metafile.inputs, server.runtime.inputs].some((inputs) =>
    Object.hasOwn(inputs, path),
  )
}

/** Starts the server of the newest build once, when it is asked for. */
function createServerStart(folders: DevBuild['folders'], run: ServerProcess['replace'], onWork: OnWork) {
  const state: { next?: () => Promise<void>; started: Promise<void> } = { started: Promise.resolve() }
  return {
    prepare(server: DevGeneration['server'], manifest: string): void {
      state.next = async () => {
        const { start, folder } = await folders.write(server, manifest)
        onWork('server start')
        run(start, folder)
      }
    },
    start(): Promise<void> {
      const { next, started } = state
      delete state.next
      if (next !== undefined) state.started = inOrder(started, next)
      return state.started
    },
  }
}

async function inOrder(first: Promise<void>, work: () => Promise<void>): Promise<void> {
  await first.catch(() => undefined)
  await work()
}

/** Whether pages apply something themselves. */
function isApplied(message: DevMessage): boolean {
  return message.type === 'update' && message.modules.length + message.styles.length > 0
}
