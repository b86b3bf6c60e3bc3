import type { RawFrame } from './stack-frames.ts'
import { SourceMap } from 'node:module'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import type { DevFailure, DevMessage } from '../../src/client/dev/dev-messages.ts'
import { checkBuildOptions, displayPath, type BuildOptions, PUBLIC_PATH } from '../build/build-options.ts'
import { SERVER_ENTRY } from '../build/bundle-options.ts'
import { createDevBuild, type DevBuild, type DevGeneration } from './dev-build.ts'
import { createDevChannel, type DevChannel } from './dev-channel.ts'
import { buildFailures, failureText, thrownFailure, type ThrownError } from './dev-failures.ts'
import { devManifest } from './dev-manifest.ts'
import { createGateway } from './gateway.ts'
import { createModuleServer, type ModuleServer } from './module-server.ts'
import { planReaction } from './plan-reaction.ts'
import { errorOf, parseLogLine, readableLine } from './readable-log.ts'
import { createSaveQueue } from './save-queue.ts'
import { createServerProcess } from './server-process.ts'
import { bundleVendors, importedPackageFiles, type VendorBundle } from './vendor-bundle.ts'
import { watchSources } from './watch-sources.ts'

/** A running development server. */
export interface DevServer {
  readonly url: string
  /** Ends it and the application's server. */
  close(): Promise<void>
}

/** Options of a development server. */
export interface DevServerOptions extends BuildOptions {
  /** TCP port on the loopback interface; 0 picks a free one. */
  readonly port: number
  /** Environment of the application's server, including public variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Identifies this run, so that pages of a former one notice. */
  readonly session: string
  /** Prints a line. */
  print(text: string): void
}

const SOURCE = /\.[cm]?[jt]sx?$/

interface Adopted {
  readonly generation: DevGeneration
  readonly vendors: VendorBundle
  readonly packages: string
}

interface Current extends Adopted {
  readonly manifest: string
}

/** Starts a generation of the application's server; it never outlives the development server. */
const MAIN = `process.setSourceMapsEnabled(true)
process.once('disconnect', () => process.exit())
await import('./${SERVER_ENTRY}.js')
`

/** Writes the folder of a generation. Each has its own: the previous server may still load files from its folder. */
async function writeGeneration(folder: string, { generation, manifest }: Current): Promise<string> {
  await mkdir(join(folder, 'server'), { recursive: true })
  await mkdir(join(folder, 'public'))
  const main = join(folder, 'server/main.js')
  await Promise.all([
    ...generation.server.files.map(({ path, contents }) => writeFile(join(folder, 'server', basename(path)), contents)),
    writeFile(main, MAIN),
    writeFile(join(folder, 'manifest.json'), manifest),
  ])
  return main
}

/** The parts that serve sources to browsers. */
interface Parts {
  readonly build: DevBuild
  readonly modules: ModuleServer
  readonly channel: DevChannel
}

/** The newest state of the sources. */
interface Updates {
  /** @returns whether the sources build; if not, pages have not been told of these files yet. */
  update(files: readonly string[]): Promise<boolean>
  current(): Current | undefined
  /** Whether a file is code of the newest build, by its path in the project. */
  isSource(path: string): boolean
  /** Whether it is part of that build's browser bundle. */
  isInBrowser(path: string): boolean
}

/** @param run replaces the application's server by one that starts at this file. */
function createUpdates(
  { root, out, print }: Pick<DevServerOptions, 'root' | 'out' | 'print'>,
  { build, modules, channel }: Parts,
  run: (main: string) => void,
): Updates {
  const state: { current?: Current; known?: DevGeneration; count: number } = { count: 0 }

  /** Updates everything to the newest state of the sources; `undefined` while they do not build. */
  async function adopt(): Promise<Adopted | undefined> {
    try {
      const generation = await build.rebuild()
      state.known = generation
      const imported = importedPackageFiles(root, generation.browser)
      const packages = JSON.stringify([...imported].toSorted())
      const former = state.current
      if (generation.warnings !== '' && generation.warnings !== former?.generation.warnings) print(generation.warnings)
      const vendors = former?.packages === packages ? former.vendors : await bundleVendors(root, imported)
      modules.adopt(generation, vendors)
      return { generation, vendors, packages }
    } catch (error) {
      const failures = buildFailures(root, error)
      print(`The build failed.\n\n${failures.map(failureText).join('\n\n')}\n`)
      channel.buildFailed(failures)
      return undefined
    }
  }

  async function runServer(current: Current): Promise<void> {
    state.count += 1
    const main = await writeGeneration(join(out, String(state.count)), current)
    await rm(join(out, String(state.count - 2)), { recursive: true, force: true })
    run(main)
  }

  /** Other packages mean another React, and a module that does not compile alone cannot be an update. */
  async function reactionTo(former: Adopted, next: Adopted, changed: readonly string[]): Promise<DevMessage> {
    if (former.vendors !== next.vendors) return { type: 'reload' }
    return planReaction(former.generation, next.generation, changed, modules).catch(() => ({ type: 'reload' }))
  }

  return {
    async update(files) {
      const former = state.current
      const adopted = await adopt()
      if (adopted === undefined) return false
      const changed = files.map((file) => displayPath(root, file))
      const reaction = former && (await reactionTo(former, adopted, changed))
      // The reaction gives changed modules other URLs, which the manifest names.
      const manifest = JSON.stringify(devManifest(adopted.generation, modules.urls, adopted.vendors))
      const current = { ...adopted, manifest }
      const sameServer = former?.generation.server.hash === current.generation.server.hash
      if (!sameServer || former?.manifest !== current.manifest) await runServer(current)
      state.current = current
      channel.built()
      if (reaction !== undefined) channel.send(reaction)
      return true
    },
    current: () => state.current,
    isSource(path) {
      const { known } = state
      if (known === undefined || !SOURCE.test(path)) return false
      return [known.browser.inputs, known.server.metafile.inputs].some((inputs) => Object.hasOwn(inputs, path))
    },
    isInBrowser: (path) => Object.hasOwn(state.known?.browser.inputs ?? {}, path),
  }
}

/**
 * Starts the development server. A failed build, now or later, is shown and does not end it.
 * @throws {BuildFault} if there is no application; the error of `listen` if the port is taken.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { root, app, out, env, print } = options
  checkBuildOptions(options)

  const channel = createDevChannel(options.session, () => performance.now())
  const build = createDevBuild(options, env)
  const modules = createModuleServer(root)
  const idle = await bundleVendors(root, new Map())
  const { update, current, isSource, isInBrowser } = createUpdates(options, { build, modules, channel }, (main) =>
    server.replace(main),
  )

  function serverFailed(error: ThrownError): void {
    channel.requestFailed(thrownFailure(root, 'server', error, { isSource }))
  }

  /** Pages may name only files that browsers have loaded. */
  function explain(error: ThrownError): DevFailure {
    const locate = locateInModules(root, modules)
    // For a module with actions, browsers have loaded references, and not the source that would be read here.
    const isServed = (path: string): boolean => modules.served(path) !== undefined && isInBrowser(path)
    return thrownFailure(root, 'browser', error, { isSource: isServed, locate })
  }

  const server = createServerProcess(
    env,
    {
      line(text, isCurrent) {
        const line = parseLogLine(text)
        const error = line && errorOf(line)
        if (error !== undefined && isCurrent) serverFailed(error)
        print(line === undefined ? text : readableLine(line))
      },
    },
    ({ message, output }) => serverFailed({ message: `${message}\n${output}`, stack: output }),
  )

  const onDefect = (error: unknown): void =>
    print(`A defect of the development server: ${error instanceof Error ? error.stack : String(error)}`)
  const saves = createSaveQueue(async (files) => {
    const isBuilt = await update(files)
    watcher.include(build.reads.files())
    return isBuilt
  }, onDefect)

  const gateway = createGateway({
    channel,
    modules,
    manifest() {
      const now = current()
      return now && devManifest(now.generation, modules.urls, now.vendors)
    },
    port: server.port,
    devClient: () => current()?.vendors.devClient ?? idle.devClient,
    explain,
    onDefect,
  })
  modules.adoptVendors(idle)

  gateway.listen(options.port, 'localhost')
  await once(gateway, 'listening')
  // Only after listening: a second server of the same application fails there, and must not remove the first one's
  // files.
  await rm(out, { recursive: true, force: true })

  // Texts in `docs` are not sources, but pages are rendered from them.
  const folders = [join(root, 'src'), join(root, 'docs')]
  const watcher = watchSources(app.startsWith(join(root, 'src')) ? folders : [...folders, app], saves.add)
  saves.add([])
  await saves.idle()
  const { port } = gateway.address() as AddressInfo

  return {
    url: `http://localhost:${port}`,
    async close() {
      watcher.close()
      channel.close()
      gateway.close()
      gateway.closeAllConnections()
      await saves.idle()
      await Promise.all([server.stop(), build.dispose()])
      await rm(out, { recursive: true, force: true })
    },
  }
}

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/m

/** Translates positions in served modules into positions in their sources; leaves all others unchanged. */
function locateInModules(root: string, { urls, served }: Pick<ModuleServer, 'urls' | 'served'>) {
  return (frame: RawFrame): RawFrame => {
    const path = URL.parse(frame.file)?.pathname ?? ''
    const key = path.startsWith(PUBLIC_PATH) ? urls.keyOf(path) : undefined
    const encoded = key === undefined ? undefined : INLINE_MAP.exec(served(key)?.code ?? '')?.[1]
    if (key === undefined || encoded === undefined) return frame
    const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')))
    const entry = map.findEntry(frame.line - 1, frame.column - 1)
    if (!('originalLine' in entry)) return frame
    return { ...frame, file: join(root, key), line: entry.originalLine + 1, column: entry.originalColumn + 1 }
  }
}
