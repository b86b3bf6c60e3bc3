/**
 * Runs in a thread: asks Node itself which file an import leads to, and whether it can link that file with all that it
 * imports. Nothing is evaluated: the first import of each entry throws before the next one runs.
 */
import { readFileSync } from 'node:fs'
import { createRequire, isBuiltin, registerHooks } from 'node:module'
import { extname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { neighbourModules } from './neighbour-modules.ts'

/** An import of a package. */
export interface LinkRequest {
  readonly specifier: string
  /** Absolute path of the importing file's folder. */
  readonly folder: string
  readonly kind: 'import' | 'require'
}

/** The file that Node loads for it. */
export interface LinkedFile {
  /** Absolute path, links resolved. */
  readonly file: string
  readonly format: 'module' | 'commonjs'
  /** Absolute path of what `require` of the same specifier gives, if it finds anything. */
  readonly required?: string
  /** Whether `import` finds nothing, and only `require` does: for a path without its ending. */
  readonly onlyRequired: boolean
  /** Why Node cannot load it. */
  readonly fault?: string
  /** Whether React is among the modules that it loads. */
  readonly loadsReact: boolean
  /** Whether code of its own package loads a native add-on, or reads files beside itself. */
  readonly needsPlace: boolean
}

/** A message to the thread. */
export interface LinkQuestion extends LinkRequest {
  readonly id: number
}

/** Its answer; without a file if Node finds none. */
export interface LinkAnswer {
  readonly id: number
  readonly found?: LinkedFile
}

const ENTRY = 'millrace-link:'
const STOP = 'millrace-link:stop'

const REACT = /^(?:react|react-dom|scheduler)(?:$|\/)/
const REQUIRE = /\brequire\(\s*(['"])([^'"\n]+)\1\s*\)/g
const COMMONJS_ENDINGS = new Set(['', '.js', '.cjs'])
const LEAF_ENDINGS = new Set(['.json', '.node', '.mjs', '.wasm'])

const ADD_ON =
  /\.node['"`]|['"](?:bindings|node-gyp-build(?:-optional-packages)?|@mapbox\/node-pre-gyp|prebuild-install)['"]/
const OWN_PLACE = /\b__dirname\b|\b__filename\b|\bimport\.meta\.(?:url|dirname|filename)\b|\brequire\.resolve\(/
const READS = /\b(?:readFile|readdir|createReadStream|existsSync|dlopen|opendir|new Worker|fork\()/

const MOST_FILES = 5_000 // of CommonJS for one entry; what is beyond counts as loadable

/** What is known of a module. */
interface Node {
  readonly format: string | undefined
  /** Absolute paths and URLs, and names of packages that were not followed. */
  readonly imports: Set<string>
  fault?: string
}

interface Entry {
  readonly specifier: string
  readonly parentURL: string
  url?: string
}

const nodes = new Map<string, Node>()
const edges = new Map<string, Set<string>>()
const entries = new Map<string, Entry>()
const neighbour = neighbourModules()

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith(ENTRY)) return { url: specifier, format: 'module', shortCircuit: true }
    const { parentURL = '' } = context
    const entry = entries.get(parentURL)
    if (entry === undefined) {
      if (REACT.test(specifier)) note(parentURL, specifier)
      const found = neighbour(specifier, parentURL) ?? next(specifier, context)
      note(parentURL, found.url)
      return found
    }
    const found = next(specifier, { ...context, parentURL: entry.parentURL })
    entry.url = found.url
    return found
  },
  load(url, context, next) {
    if (url === STOP) return { format: 'module', source: `throw ${JSON.stringify(STOP)}`, shortCircuit: true }
    const entry = entries.get(url)
    if (entry !== undefined) {
      const source = `import ${JSON.stringify(STOP)}; import ${JSON.stringify(entry.specifier)}`
      return { format: 'module', source, shortCircuit: true }
    }
    const loaded = next(url, context)
    nodes.set(url, { format: loaded.format ?? undefined, imports: edges.get(url) ?? new Set() })
    return loaded
  },
})

function note(from: string, to: string): void {
  const known = edges.get(from)
  if (known === undefined) edges.set(from, new Set([to]))
  else known.add(to)
  nodes.get(from)?.imports.add(to)
}

/** Links one import. @returns the URL that it leads to, and the fault. */
async function link(specifier: string, parentURL: string): Promise<{ readonly url?: string; readonly fault?: string }> {
  const key = `${ENTRY}${entries.size}`
  const entry: Entry = { specifier, parentURL }
  entries.set(key, entry)
  try {
    await import(key)
    return { ...entry }
  } catch (thrown) {
    const { url } = entry
    const fault = thrown === STOP ? undefined : thrown instanceof Error ? thrown.message : String(thrown)
    return { ...(url !== undefined && { url }), ...(fault !== undefined && { fault }) }
  }
}

function requiredFile(specifier: string, parent: string): string | undefined {
  try {
    return createRequire(parent).resolve(specifier)
  } catch {
    return undefined
  }
}

/** Adds what a CommonJS module requires. */
function scanCommonJs(file: string): Node {
  const imports = new Set<string>()
  const node: Node = { format: 'commonjs', imports }
  const ending = extname(file)
  if (LEAF_ENDINGS.has(ending)) return node
  if (!COMMONJS_ENDINGS.has(ending)) return { ...node, fault: `Node cannot load ${file}` }
  for (const [, , specifier = ''] of readFileSync(file, 'utf8').matchAll(REQUIRE)) {
    if (isBuiltin(specifier)) continue
    if (REACT.test(specifier)) imports.add(specifier)
    const found = requiredFile(specifier, file)
    if (found !== undefined) imports.add(pathToFileURL(found).href)
  }
  return node
}

/** All that is loaded with a module, CommonJS included. */
function reach(url: string): {
  readonly files: readonly string[]
  readonly loadsReact: boolean
  readonly fault?: string
} {
  const reached = new Set([url])
  let [count, loadsReact] = [0, false]
  for (const at of reached) {
    if (REACT.test(at)) loadsReact = true
    if (!at.startsWith('file:')) continue
    const known = nodes.get(at)
    const isScanned = known !== undefined && (known.format === 'module' || known.format === 'json' || edges.has(at))
    if (!isScanned && (count += 1) > MOST_FILES) continue
    const node = isScanned ? known : scanCommonJs(fileURLToPath(at))
    if (!isScanned) {
      nodes.set(at, node)
      edges.set(at, node.imports)
    }
    if (node.fault !== undefined) return { files: [], loadsReact, fault: node.fault }
    for (const next of node.imports) reached.add(next)
  }
  return { files: [...reached].filter((one) => one.startsWith('file:')).map((one) => fileURLToPath(one)), loadsReact }
}

function packageFolder(file: string): string {
  const at = file.lastIndexOf(`${sep}node_modules${sep}`) + `${sep}node_modules${sep}`.length
  const parts = file.slice(at).split(sep)
  return file.slice(0, at) + parts.slice(0, parts[0]?.startsWith('@') === true ? 2 : 1).join(sep) + sep
}

function needsPlace(files: readonly string[], file: string): boolean {
  const folder = packageFolder(file)
  return files.some((one) => {
    if (packageFolder(one) !== folder) return false
    if (one.endsWith('.node')) return true
    if (one.endsWith('.json')) return false
    const text = readFileSync(one, 'latin1')
    return ADD_ON.test(text) || (OWN_PLACE.test(text) && READS.test(text))
  })
}

async function answer({ specifier, folder, kind }: LinkRequest): Promise<LinkedFile | undefined> {
  const parent = `${folder}${sep}_`
  const required = requiredFile(specifier, parent)
  const imported = kind === 'import' ? await link(specifier, pathToFileURL(parent).href) : {}
  const onlyRequired = imported.url === undefined
  if (onlyRequired && required === undefined) return undefined
  const linked = onlyRequired ? await link(pathToFileURL(required ?? '').href, pathToFileURL(parent).href) : imported
  const { url = '' } = linked
  if (!url.startsWith('file:')) return undefined
  const file = fileURLToPath(url)
  const isAddOn = file.endsWith('.node')
  const reached = linked.fault === undefined || isAddOn ? reach(url) : undefined
  const fault = reached === undefined ? linked.fault : reached.fault
  return {
    file,
    format: nodes.get(url)?.format === 'module' ? 'module' : 'commonjs',
    ...(required !== undefined && { required }),
    onlyRequired,
    ...(fault !== undefined && { fault }),
    loadsReact: reached?.loadsReact ?? false,
    needsPlace: needsPlace(reached?.files ?? [], file),
  }
}

const queue = { last: Promise.resolve() }

parentPort?.on('message', ({ id, ...request }: LinkQuestion) => {
  queue.last = queue.last.then(async () => {
    const found = await answer(request)
    const message: LinkAnswer = { id, ...(found !== undefined && { found }) }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(message)
  })
})
