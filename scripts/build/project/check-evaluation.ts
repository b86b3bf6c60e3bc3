import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename, extname, join } from 'node:path'
import type { Metafile } from 'esbuild'
import { BuildFault } from '../build-fault.ts'
import type { EvaluatedModule, EvaluationFault, EvaluationMessage } from './evaluate-modules.ts'
import type { ApplicationFacts } from './inspect-application.ts'
import { packageName } from '../resolve/installed-packages.ts'
import { REQUIRED_PACKAGE } from '../resolve/server-packages.ts'

/** For one module: one that takes longer is waiting for something that a build cannot provide. */
const LIMIT_MS = 30_000

const PROCESS = join(import.meta.dirname, `evaluate-modules${extname(import.meta.filename)}`)

/** A module of the table, as the server's bundle has it. */
interface TableModule extends EvaluatedModule {
  /** Path of the source in the project. */
  readonly source: string
  /** The first entry that names it. */
  readonly pattern: string
  readonly kind: string
}

/**
 * Imports every module of the table once, as the server will, in a process that ends with it.
 * @param staging the folder of the build; the server's bundle is in it.
 * @throws {BuildFault} for the first one that fails: the page, the imports that lead to the cause, and a way out.
 */
export async function checkEvaluation(
  { root, staging }: { readonly root: string; readonly staging: string },
  metafile: Metafile,
  facts: Pick<ApplicationFacts, 'sources' | 'urls'>,
): Promise<void> {
  const modules = tableModules(join(staging, 'server'), metafile, facts)
  const faults = await evaluateAll(modules)
  const [first, ...others] = faults
  const module = first && modules[first.index]
  if (first === undefined || module === undefined) return
  const also = others.flatMap(({ index }) => modules[index]?.source ?? [])
  const more = also.length === 0 ? [] : [`The same check fails for ${also.slice(0, 5).join(', ')}.`]
  throw new BuildFault([describe(root, module, first, metafile), ...more].join('\n'))
}

function tableModules(
  folder: string,
  { outputs }: Metafile,
  { sources, urls }: Pick<ApplicationFacts, 'sources' | 'urls'>,
): readonly TableModule[] {
  const chunks = new Map(Object.entries(outputs).map(([chunk, { entryPoint }]) => [entryPoint, basename(chunk)]))
  const modules = new Map<string, TableModule>()
  for (const [pattern, kinds] of Object.entries(sources)) {
    for (const [kind, source] of Object.entries(kinds)) {
      const chunk = chunks.get(source)
      const isEarly = urls[pattern]?.shell === 'early' && (kind === 'page' || kind === 'loader')
      if (chunk === undefined || (modules.has(source) && !isEarly)) continue
      modules.set(source, { source, pattern, kind, file: join(folder, chunk), isEarly })
    }
  }
  return [...modules.values()]
}

async function evaluateAll(modules: readonly EvaluatedModule[]): Promise<readonly EvaluationFault[]> {
  if (modules.length === 0) return []
  const child = fork(PROCESS, {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 2, 2, 'ipc'], // stdout may be a log for other programs
  })
  const state = { index: 0, isDone: false }
  const faults: EvaluationFault[] = []
  child.on('message', (message: EvaluationMessage) => {
    if (message === 'done') state.isDone = true
    else if ('message' in message) faults.push(message)
    else {
      state.index = message.evaluating
      overdue.refresh()
    }
  })
  const overdue = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  child.send(
    modules.map(({ file, isEarly }) => ({ file, isEarly })),
    () => undefined,
  ) // its exit reports its end
  const [code, signal] = await once(child, 'exit')
  clearTimeout(overdue)
  if (state.isDone) return faults
  const limit = `it did not finish within ${LIMIT_MS / 1000} s (a top-level await that never settles?)`
  const message = signal === 'SIGKILL' ? limit : `its process ended early, with exit code ${String(code)}`
  return [...faults, { index: state.index, message, stack: message }]
}

function describe(
  root: string,
  { source, pattern, kind }: TableModule,
  fault: EvaluationFault,
  metafile: Metafile,
): string {
  if (fault.isRule) return `${source}, the ${kind} of '${pattern}', ${fault.message}`
  const chain = chainTo(metafile, source, culprits(fault))
  const last = chain.at(-1) ?? source
  return [
    `${source}, the ${kind} of '${pattern}', cannot be loaded by the server:`,
    ...excerpt(fault, root),
    ...chain.map((one, depth) => `  ${depth === 0 ? '' : '→ '}${one}`),
    wayOut(fault, last, isPackage(last) ? packageOf(last) : undefined),
  ].join('\n')
}

const MOST_FRAMES = 3

/** Frames of Node, of this check, and of what the build has made. */
const OF_BUILD = new RegExp(`node:|evaluate-modules|${REQUIRED_PACKAGE}:|\\.building-`)

/** The message, and the first frames outside of Node and of this build. */
function excerpt({ message, stack }: EvaluationFault, root: string): readonly string[] {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !OF_BUILD.test(line))
  const [first = message] = stack.split('\n').filter((line) => line.includes(message.split('\n')[0] ?? ''))
  return [first, ...frames.slice(0, MOST_FRAMES)].map((line) =>
    line.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, ''),
  )
}

/** What the failure may be about, nearest first: names of packages, and paths of sources. */
function culprits({ message, stack }: EvaluationFault): readonly string[] {
  const quoted = Array.from(message.matchAll(/(?:module|package|of) ['"]([^'"]+)['"]/gi), ([, name = '']) => name)
  const places = Array.from(stack.matchAll(/[^\s(]*(?:node_modules\/[^\s:)]+|:\d+:\d+)/g), ([place]) =>
    isPackage(place) ? packageOf(place) : place.replace(/:\d+:\d+$/, ''),
  )
  return [...quoted, ...places]
}

/** The shortest way from a source to the first of the culprits that it leads to: keys of inputs, names of packages. */
function chainTo({ inputs }: Metafile, source: string, wanted: readonly string[]): readonly string[] {
  const next = new Map<string, string | undefined>([[source, undefined]])
  for (const key of next.keys()) {
    for (const { path, kind, original } of inputs[key]?.imports ?? []) {
      const isOutside = inputs[path] === undefined || path.startsWith(`${REQUIRED_PACKAGE}:`)
      const to = isOutside ? (original ?? path) : path
      if (kind !== 'dynamic-import' && !next.has(to)) next.set(to, key)
    }
  }
  const reached = [...next.keys()]
  const found = wanted.flatMap((one) => reached.find((key) => isOf(key, one)) ?? [])[0]
  const chain: string[] = []
  for (let at = found ?? source; ;) {
    chain.unshift(at)
    const before = next.get(at)
    if (before === undefined) return chain
    at = before
  }
}

function isOf(key: string, wanted: string): boolean {
  if (key.includes('node_modules/')) return packageOf(key) === packageName(wanted)
  return key === wanted || packageName(key) === packageName(wanted) || wanted.endsWith(`/${key}`)
}

/** Keys of the project's own sources have an ending or a namespace; names of packages that are imported do not. */
function isPackage(key: string): boolean {
  return (
    key.includes('node_modules/') || !/^[a-z-]+:|^\.{0,2}\/|\.[cm]?[jt]sx?$/.test(key) || /^@[^/]+\/[^/]+$/.test(key)
  )
}

function packageOf(key: string): string {
  const at = key.lastIndexOf('node_modules/')
  return packageName(at === -1 ? key : key.slice(at + 'node_modules/'.length))
}

const BROWSERS =
  /\b(?:window|document|navigator|self|location|localStorage|sessionStorage|HTMLElement|Element|DOMParser|matchMedia|requestAnimationFrame|customElements|Image|Node) is not defined/

function wayOut({ message, stack }: EvaluationFault, last: string, name: string | undefined): string {
  const what = name ?? last
  if (BROWSERS.test(message)) {
    return (
      `Only browsers have that. Keep ${what} off the server: load the component that imports it by lazy(() => import('…')), ` +
      'and render it inside of <ClientOnly>.'
    )
  }
  if (/ERR_DLOPEN_FAILED|NODE_MODULE_VERSION|\.node['"]?\b/.test(`${message} ${stack.split('\n', 1)[0]}`)) {
    return `Its add-on was not built for this machine and this Node: npm rebuild ${name ?? ''}`.trim() + '.'
  }
  const [, missing] = /Cannot find (?:module|package) ['"]([^'"./][^'"]*)['"]/.exec(message) ?? []
  if (missing !== undefined) return `Install what is missing: npm install ${packageName(missing)}.`
  if (message.includes('does not provide an export named')) {
    return `Import what ${what} exports for Node, or its default export, and take the name from that.`
  }
  if (name !== undefined) {
    return `If only one function needs ${name}, import it there: await import('${name}'). Otherwise see its documentation for servers.`
  }
  return (
    'A build has no requests, and not all settings of a server. Read what is missing inside of the function that needs it, ' +
    'or set it for the build, too.'
  )
}
