/**
 * The peers that are installed beside the bare server: `npm ci --prefix tests/bench/peers/<name>`. They render the very
 * components of the reference application, with links of their own.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { runCommand } from '../../scripts/checks/run-command.ts'
import { PRODUCTION, PROJECT } from './bundle.ts'
import type { Contestant } from './server-process.ts'

const BUILD_LIMIT_MS = 300_000 // for one that hangs

/** Another framework that serves the pages of `/lab/bench`. */
interface Peer {
  /** As in the report: `Next.js 16`. */
  readonly name: string
  /** Below `tests/bench/peers`. */
  readonly folder: string
  /** Whether it has pages at `/lab/bench/kept` that it serves from its own cache. */
  readonly keeps: boolean
  /** Below its folder: an application that has pages at `/lab/bench/shell`, with a hole for what belongs to the visitor. */
  readonly partial?: string
  /** Its own command that builds it, from its folder. */
  readonly build: readonly [file: string, ...args: string[]]
}

/** All that there are applications for. */
export const PEERS: readonly Peer[] = [
  {
    name: 'Next.js 16',
    folder: 'next',
    keeps: true,
    partial: 'partial',
    build: ['node_modules/next/dist/bin/next', 'build'],
  },
  {
    name: 'React Router 8',
    folder: 'react-router',
    keeps: false,
    build: ['node_modules/@react-router/dev/bin.cjs', 'build'],
  },
]

/** Why a peer cannot be measured, and the way out; `undefined` where it is installed. */
export function missingPeer({ name, folder }: Peer): string | undefined {
  const isInstalled = existsSync(join(folderOf(folder), 'node_modules'))
  return isInstalled ? undefined : `${name} is not installed. Get it by: npm ci --prefix tests/bench/peers/${folder}`
}

/**
 * Builds a peer's application for production.
 * @param app folder of the application below the peer's; default: the peer's own.
 * @throws {Error} when its build fails.
 */
export async function buildPeer(peer: Peer, app?: string): Promise<Contestant> {
  const folder = folderOf(peer.folder)
  await bundlePages(folder)
  const { code, output } = await runCommand(process.execPath, [...peer.build, ...(app === undefined ? [] : [app])], {
    cwd: folder,
    env: { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    timeoutMs: BUILD_LIMIT_MS,
    output: 'collect',
  })
  if (code !== 0) throw new Error(`${peer.name} does not build.\n${output}`)
  return { name: peer.name, entry: join(folder, 'server.mjs'), env: { APP: join(folder, app ?? '') } }
}

function folderOf(name: string): string {
  return join(PROJECT, 'tests/bench/peers', name)
}

/** The pages know our `Link` by a name; it becomes that of the peer. */
const linkOfPeer: Plugin = {
  name: 'link-of-peer',
  setup(building) {
    building.onResolve({ filter: /^millrace$/ }, () => ({ path: './link.jsx', external: true }))
    building.onResolve({ filter: /^react/ }, ({ path }) => ({ path, external: true }))
  },
}

/** Components and rows apart: of the rows nothing may reach a browser. */
async function bundlePages(folder: string): Promise<void> {
  const pages = ['hello', 'spiral', 'table', 'links'].map(
    (name) => `export { default as ${name[0]?.toUpperCase()}${name.slice(1)}Page } from './${name}-page.tsx'`,
  )
  // The loader reads nothing but `search` of its arguments.
  const rows = `import { loader } from './rows.server.ts'
export const loadRows = (n) => loader({ search: { n: Number(n) } })`
  const sources = { 'workloads.js': pages.join('\n'), 'rows.server.js': rows }
  await Promise.all(
    Object.entries(sources).map(([name, contents]) =>
      build({
        ...PRODUCTION,
        stdin: { contents, resolveDir: join(PROJECT, 'src/app/lab/bench') },
        outfile: join(folder, name),
        platform: 'node',
        plugins: [linkOfPeer],
      }),
    ),
  )
}
