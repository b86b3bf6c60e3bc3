/**
 * `node --import millrace/testing/register --test`: lets Node itself import an application's sources, and packages that it
 * cannot load, as bundlers do. JSX and TypeScript are compiled, a stylesheet is empty, one with local names gives these as
 * they are, and any other file is its path. Files of packages need no endings, and CommonJS has all its names. Plugins and aliases of
 * `millrace.config.ts` are not applied: those need the build, or vitest with plugins.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transformSync } from 'oxc-transform'

const SOURCE = /\.(?:tsx|jsx|ts)$/
const STYLE = /\.(?:css|scss|sass|less|styl|pcss)$/
const DATA =
  /\.(?:svg|png|apng|jpe?g|gif|webp|avif|bmp|ico|cur|woff2?|ttf|otf|eot|mp3|m4a|ogg|wav|flac|mp4|webm|ogv|mov|vtt|pdf|wasm)$/i

const NAME = /^[A-Za-z_$][\w$]*$/
const ENDINGS = ['.js', '.mjs', '.jsx', '.json', '/index.js', '/index.mjs', '/index.jsx']

/** Ends the URL of a module that has all names of a CommonJS one. Node finds only those that its text tells. */
const NAMES = '?millrace=names'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL, conditions } = context
    const isOwn = parentURL?.startsWith('file:') === true && !parentURL.includes('/node_modules/')
    const found = find(specifier, parentURL, (name) => nextResolve(name, context))
    // A module with its names requires the file itself.
    const isNamed = isOwn && !parentURL.endsWith(NAMES) && conditions.includes('import')
    // Without a type in its manifest, a script's text decides: it can be required either way.
    const isScript = found.format === 'commonjs' || ((found.format ?? '') === '' && found.url.endsWith('.js'))
    const isPackages = isScript && found.url.startsWith('file:') && found.url.includes('/node_modules/')
    return isNamed && isPackages ? { ...found, url: found.url + NAMES, format: 'module', shortCircuit: true } : found
  },
  load(url, context, nextLoad) {
    const { protocol, pathname } = new URL(url)
    if (protocol !== 'file:') return nextLoad(url, context)
    if (url.endsWith(NAMES)) return { format: 'module', source: namesOf(pathname), shortCircuit: true }
    if (STYLE.test(pathname) || DATA.test(pathname)) {
      // What is required while it is imported elsewhere must not wait for that.
      const format = context.conditions.includes('require') ? 'commonjs' : 'module'
      return { format, source: dataModule(pathname, format), shortCircuit: true }
    }
    if (!SOURCE.test(pathname)) return nextLoad(url, context)
    return { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true }
  },
})

/** Paths without endings: of a package's own files, and into a package that says nothing of what it exports. */
function find<Result>(specifier: string, parentURL: string | undefined, resolve: (name: string) => Result): Result {
  try {
    return resolve(specifier)
  } catch (error) {
    if (parentURL?.startsWith('file:') !== true) throw error
    const file = fileFor(specifier, parentURL)
    if (file === undefined) throw error
    return resolve(file.href)
  }
}

function fileFor(specifier: string, parentURL: string): URL | undefined {
  if (/^\.\.?(?:\/|$)/.test(specifier)) {
    if (!parentURL.includes('/node_modules/')) return undefined
    return ENDINGS.map((ending) => new URL(specifier + ending, parentURL)).find((one) => existsSync(one))
  }
  try {
    return pathToFileURL(createRequire(parentURL).resolve(specifier))
  } catch {
    return undefined
  }
}

/** The default is what the build gives: `exports.default` with `__esModule`. */
function namesOf(pathname: string): string {
  const file = fileURLToPath(`file://${pathname}`)
  const loaded: unknown = createRequire(file)(file)
  const isObject = (typeof loaded === 'object' && loaded !== null) || typeof loaded === 'function'
  const names = isObject ? Object.keys(loaded).filter((name) => NAME.test(name) && name !== 'default') : []
  const hasDefault = isObject && '__esModule' in loaded && 'default' in loaded
  return [
    `import { createRequire } from 'node:module'`,
    `const all = createRequire(import.meta.url)(${JSON.stringify(file)})`,
    `export default all${hasDefault ? '.default' : ''}`,
    ...names.map((name, at) => `const export${at} = all.${name}; export { export${at} as ${name} }`),
  ].join('\n')
}

function compile(file: string): string {
  const { code, map, errors } = transformSync(file, readFileSync(file, 'utf8'), {
    sourcemap: true,
    jsx: { runtime: 'automatic', development: process.env['NODE_ENV'] !== 'production' },
  })
  if (errors.length > 0) throw new SyntaxError(errors.map((error) => error.codeframe ?? error.message).join('\n'))
  const encoded = Buffer.from(JSON.stringify(map ?? {})).toString('base64')
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`
}

function dataModule(pathname: string, format: 'commonjs' | 'module'): string {
  const give = format === 'module' ? 'export default ' : 'module.exports = '
  if (!STYLE.test(pathname)) return give + JSON.stringify(pathname)
  return /\.module\.\w+$/.test(pathname) ? `${give}new Proxy({}, { get: (_, name) => String(name) })` : ''
}
