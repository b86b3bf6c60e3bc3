import type { DevMessage } from '../../../src/client/dev/dev-messages.ts'
import { displayPath } from '../../build/build-options.ts'
import { describeMessages } from '../../build/esbuild-messages.ts'
import { checkSyntax } from './check-syntax.ts'
import type { DevBuild, DevGeneration } from '../compile/dev-build.ts'
import type { DevChannel } from '../tell/dev-channel.ts'
import type { OnWork } from '../compile/dev-parts.ts'
import { buildFailures, failureText } from '../tell/dev-failures.ts'
import { devManifest } from '../compile/dev-manifest.ts'
import type { ModuleServer } from '../compile/module-server.ts'
import type { NewestBuild } from '../compile/newest-build.ts'
import { planReaction } from './plan-reaction.ts'
import type { ServerProcess } from '../process/server-process.ts'

/** Options of the updates. */
interface UpdateOptions {
  /** The project. */
  readonly root: string
  /** Called at each start of the server. */
  readonly onWork: OnWork
  /** Prints a line. */
  print(text: string): void
}

/** The parts that serve sources to browsers. */
interface Parts {
  readonly build: DevBuild
  readonly newest: NewestBuild
  readonly modules: ModuleServer
  readonly channel: DevChannel
}

/** Brings pages and the server to the newest state of the sources. */
interface Updates {
  /** @returns whether the sources build; if not, pages do not know of these files yet. */
  update(files: readonly string[]): Promise<boolean>
  /** Starts the server of the newest build, which waits until it is asked for something where pages did not need it. */
  startServer(): Promise<void>
}

/**
 * @param run replaces the application's server with one that starts at this file.
 * @param again asks for an update without further files.
 */
export function createUpdates(
  { root, print, onWork }: UpdateOptions,
  { build, newest, modules, channel }: Parts,
  { run, again }: { readonly run: ServerProcess['replace']; again(): void },
): Updates {
  const state: { manifest?: string; updates: number } = { updates: 0 }
  const printWarnings = createWarningsPrinter(print)
  const server = createServerStart(build.folders, run, onWork)

  /** The newest state of the sources; `undefined` while they do not build. */
  async function compile(files: readonly string[], isInPlace: boolean): Promise<DevGeneration | undefined> {
    try {
      const generation = await (isInPlace ? build.replace(files) : build.rebuild(files))
      newest.built(generation)
      await printWarnings(generation)
      modules.use(generation)
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
    previous: DevGeneration,
    next: DevGeneration,
    changed: readonly string[],
  ): Promise<readonly DevMessage[]> {
    const reload: readonly DevMessage[] = [{ type: 'reload' }]
    if (previous.vendors !== next.vendors) return reload
    return planReaction(previous, next, changed, modules).catch(() => reload)
  }

  /** Shows what only a look at the whole application finds, after pages know of a save. */
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
      const previous = newest.current()
      const changed = files.map((file) => displayPath(root, file))
      try {
        await checkSyntax(root, changed)
      } catch (error) {
        fail(error)
        return false
      }
      const isInPlace = previous !== undefined && (await build.keepsGraph(files))
      const early = isInPlace ? await reactionTo(previous, previous, changed) : []
      const updates = early.filter(({ type }) => type === 'update')
      for (const message of updates) channel.sendEarly(message)
      const generation = await compile(files, isInPlace)
      if (generation === undefined) return false
      const reaction =
        previous === undefined || isInPlace
          ? early.filter(({ type }) => type !== 'update')
          : await reactionTo(previous, generation, changed)
      // The reaction gives changed modules other URLs, which the manifest names.
      const manifest = JSON.stringify(devManifest(generation, modules.urls))
      if (previous?.server.hash !== generation.server.hash || state.manifest !== manifest) {
        server.prepare(generation.server, manifest)
      }
      // Pages that have all that is new ask the server for nothing.
      if (!updates.some(isApplied) || reaction.length > 0) await server.start()
      state.manifest = manifest
      newest.shown(generation)
      if (channel.failures.length > 0) print('The build works again.')
      channel.built()
      for (const message of reaction) channel.send(message)
      if (isInPlace) void verify()
      return true
    },
    startServer: server.start,
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
