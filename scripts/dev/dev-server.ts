import { createRequire } from 'node:module'
import { rm } from 'node:fs/promises'
import { once } from 'node:events'
import { isIPv4, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { checkBuildOptions, type BuildOptions } from '../build/build-options.ts'
import { createBundleCache } from './compile/bundle-cache.ts'
import type { Certificate } from './serve/certificate.ts'
import { createDevBuild } from './compile/dev-build.ts'
import type { OnWork } from './compile/dev-parts.ts'
import { createProgress } from './tell/progress.ts'
import { createDevChannel } from './tell/dev-channel.ts'
import { createUpdates } from './watch/dev-updates.ts'
import { devManifest } from './compile/dev-manifest.ts'
import { createDevReports } from './tell/dev-reports.ts'
import { createGateway } from './serve/gateway.ts'
import type { InspectorAddress } from './process/inspector-port.ts'
import { isEveryAddress, networkAddresses, urlHost } from './process/local-hosts.ts'
import { createModuleServer } from './compile/module-server.ts'
import { createNewestBuild } from './compile/newest-build.ts'
import { packageRecords } from '../build/resolve/package-stamp.ts'
import { openEditor } from './serve/open-editor.ts'
import { createSaveQueue } from './watch/save-queue.ts'
import { hostsVariable } from './process/child-hosts.ts'
import { createServerProcess } from './process/server-process.ts'
import { bundleVendors } from './compile/vendor-bundle.ts'
import { watchSources } from './watch/watch-sources.ts'

/** A running development server. */
export interface DevServer {
  readonly url: string
  /** Where other machines reach it. */
  readonly networkUrls: readonly string[]
  /** Ends it and the application's server. */
  close(): Promise<void>
}

/** Options of a development server. */
export interface DevServerOptions extends BuildOptions {
  /** TCP port; 0 picks a free one. */
  readonly port: number
  /** The address to listen on, `0.0.0.0` for all. Default: `localhost`, which other machines do not reach. */
  readonly host?: string | undefined
  /** Further host names to answer under, in lower case: those of tunnels and of names for this machine. */
  readonly allowHosts?: readonly string[] | undefined
  /** Environment of the application's server, including public variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** For https. Default: http. */
  readonly certificate?: Pick<Certificate, 'cert' | 'key'> | undefined
  /** Milliseconds from one look at the sources to the next. Default: the system reports changes. */
  readonly pollMs?: number | undefined
  /** Where a debugger reaches the application's server. Default: nowhere. */
  readonly inspector?: InspectorAddress | undefined
  /** Identifies this run, so that pages of an earlier one notice. */
  readonly session: string
  /** Folder for bundles of packages, which the next start uses again. Default: none are kept. */
  readonly cache?: string | undefined
  /** Called when the server listens. Requests wait for the first build. */
  onListening?(server: Pick<DevServer, 'url' | 'networkUrls'>): void
  /** Prints a line. */
  print(text: string): void
  /** Replaces the last line of a terminal; see `ProgressOutput`. */
  readonly status?: ((text: string) => void) | undefined
  /** Called before each piece of work that may take a while. */
  readonly onWork?: OnWork
}

/**
 * Starts the development server. A failed build, now or later, is shown and does not end it.
 * @throws {BuildFault} if there is no application; the error of `listen` if the port is taken.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { root, app, out, basePath = '', env, print } = options
  checkBuildOptions(options)

  const bundles = createBundleCache(options.cache, options)
  const channel = createDevChannel(options.session, () => performance.now(), versionsOf(root))
  const progress = createProgress(options, () => performance.now(), options.onWork)
  const build = createDevBuild({ ...options, bundles, onWork: progress.note }, env)
  const modules = createModuleServer(root, basePath)
  const noPackages = await bundleVendors([], { root, basePath, bundles, onWork: progress.note })
  const newest = createNewestBuild(root)
  const { update, startServer } = createUpdates(
    { root, print, onWork: progress.note },
    { build, newest, modules, channel },
    { run: (main, message) => server.replace(main, message), again: () => saves.add([]) },
  )
  const reports = createDevReports(options, { channel, modules, newest })

  const { host = 'localhost', allowHosts = [] } = options
  const server = createServerProcess(
    { ...env, ...hostsVariable(allowHosts, host !== 'localhost') },
    reports,
    reports.startFailed,
    options.inspector,
  )

  const onDefect = (error: unknown): void => print(defectText(error))
  function checkBuild(): void {
    try {
      reports.checkBuild()
    } catch (error) {
      onDefect(error)
    }
  }
  const installs = new Set(packageRecords(root))
  const applySaves = async (files: readonly string[]): Promise<boolean> => {
    const saved = files.filter((file) => !installs.has(file))
    if (saved.length < files.length) build.forget() // all imports may lead elsewhere
    const isBuilt = await progress.during(update(saved))
    watcher.include([...build.reads.files(), ...newest.files()])
    if (isBuilt) setImmediate(checkBuild) // pages and requests do not wait for it
    return isBuilt
  }
  const saves = createSaveQueue(applySaves, (error) => {
    build.forget() // the files of this update count as applied
    onDefect(error)
  })

  const built = Promise.withResolvers<void>()
  const gateway = createGateway({
    hosts: { names: new Set(allowHosts), addresses: host === 'localhost' ? () => [] : networkAddresses },
    certificate: options.certificate,
    channel,
    modules,
    manifest() {
      const now = newest.current()
      return now && devManifest(now, modules.urls)
    },
    built: built.promise,
    settled: () => built.promise.then(saves.idle),
    async port() {
      await startServer()
      return server.port()
    },
    devClient: () => modules.urls.publicPath((newest.current()?.vendors ?? noPackages).devClient),
    explain: reports.explain,
    open: (place) => openEditor(root, place, env['LAUNCH_EDITOR']),
    onDefect,
  })
  modules.useVendors(noPackages)

  gateway.server.listen(options.port, host)
  await once(gateway.server, 'listening')
  const urls = urlsOf(host, networkAddresses(), namedUrl(options, gateway.server.address() as AddressInfo))
  options.onListening?.(urls)
  // Only after listening: a second server of the same application fails there, and must not remove the first one's
  // files.
  await rm(out, { recursive: true, force: true })

  // Texts in `docs` are not sources, but pages are rendered from them.
  const folders = [join(root, 'src'), join(root, 'docs')]
  const watched = app.startsWith(join(root, 'src')) ? folders : [...folders, app]
  const watcher = watchSources(watched, saves.add, { pollMs: options.pollMs, print })
  watcher.include(installs)
  saves.add([])
  await saves.idle()
  built.resolve()

  return {
    ...urls,
    async close() {
      watcher.close()
      channel.close()
      await gateway.close()
      await saves.idle()
      await Promise.all([server.stop(), build.dispose()])
      await rm(out, { recursive: true, force: true })
    },
  }
}

function namedUrl({ certificate, basePath = '' }: DevServerOptions, { port }: AddressInfo): (name: string) => string {
  const scheme = certificate === undefined ? 'http' : 'https'
  return (name) => `${scheme}://${name}:${port}${basePath}`
}

/** @param addresses of this machine. */
function urlsOf(
  host: string,
  addresses: readonly string[],
  urlOf: (name: string) => string,
): Pick<DevServer, 'url' | 'networkUrls'> {
  const isEvery = isEveryAddress(host)
  const reached = isEvery
    ? addresses.filter((address) => host === '::' || isIPv4(address))
    : addresses.filter((address) => address === host)
  return {
    url: urlOf(isEvery ? 'localhost' : urlHost(host)),
    networkUrls: reached.map((address) => urlOf(urlHost(address))),
  }
}

function defectText(error: unknown): string {
  return `A defect of the development server: ${error instanceof Error ? error.stack : String(error)}`
}

/** Names and versions for copied failures. */
function versionsOf(root: string): string {
  const own: { version: string } = createRequire(import.meta.url)('millrace/package.json')
  const react: { version: string } = createRequire(join(root, 'package.json'))('react/package.json')
  return `Millrace ${own.version}, React ${react.version}, Node ${process.versions.node}`
}
