/**
 * `node --import millrace/testing/register --test`: lets Node itself import an application's sources, and packages that it
 * cannot load, as bundlers do. JSX and TypeScript are compiled, a stylesheet is empty, one with local names gives these as
 * they are, and any other file is its path. A package may name its files without their endings. Plugins and aliases of
 * `millrace.config.ts` are not applied: those need the build, or vitest with plugins.
 */
import { existsSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'oxc-transform'

const SOURCE = /\.(?:tsx|jsx|ts)$/
const STYLE = /\.(?:css|scss|sass|less|styl|pcss)$/
const DATA =
  /\.(?:svg|png|apng|jpe?g|gif|webp|avif|bmp|ico|cur|woff2?|ttf|otf|eot|mp3|m4a|ogg|wav|flac|mp4|webm|ogv|mov|vtt|pdf|wasm)$/i

const ENDINGS = ['.js', '.mjs', '.jsx', '.json', '/index.js', '/index.mjs', '/index.jsx']

registerHooks({
  resolve(specifier, context, nextResolve) {
    try {
      return nextResolve(specifier, context)
    } catch (error) {
      const { parentURL } = context
      if (!/^\.\.?(?:\/|$)/.test(specifier) || parentURL?.includes('/node_modules/') !== true) throw error
      const ending = ENDINGS.find((one) => existsSync(new URL(specifier + one, parentURL)))
      if (ending === undefined) throw error
      return nextResolve(specifier + ending, context)
    }
  },
  load(url, context, nextLoad) {
    const { protocol, pathname } = new URL(url)
    if (protocol !== 'file:') return nextLoad(url, context)
    if (STYLE.test(pathname) || DATA.test(pathname))
      return { format: 'module', source: dataModule(pathname), shortCircuit: true }
    if (!SOURCE.test(pathname)) return nextLoad(url, context)
    return { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true }
  },
})

function compile(file: string): string {
  const { code, map, errors } = transformSync(file, readFileSync(file, 'utf8'), {
    sourcemap: true,
    jsx: { runtime: 'automatic', development: process.env['NODE_ENV'] !== 'production' },
  })
  if (errors.length > 0) throw new SyntaxError(errors.map((error) => error.codeframe ?? error.message).join('\n'))
  const encoded = Buffer.from(JSON.stringify(map ?? {})).toString('base64')
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`
}

function dataModule(pathname: string): string {
  if (!STYLE.test(pathname)) return `export default ${JSON.stringify(pathname)}`
  const isModule = /\.module\.\w+$/.test(pathname)
  return isModule ? 'export default new Proxy({}, { get: (_, name) => String(name) })' : ''
}
