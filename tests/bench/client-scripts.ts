import { gzipSync } from 'node:zlib'
import { bundleReactAlone } from './bundle.ts'
import type { Measurement } from './measurement.ts'
import { startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'

const PATH = '/lab/bench/hello'
const GZIP_LEVEL = 9 // as the build does it

/** What the browser loads for the smallest page, beyond what any page with React loads. */
export async function measureClientScripts(contestant: Contestant): Promise<Measurement> {
  await using server = await startServer(contestant, PATH)
  const html = await (await fetch(`${server.origin}${PATH}`)).text()
  const scripts = await loadScripts(new URL(PATH, server.origin), scriptsOf(html))
  if (scripts.size === 0) throw new Error(`${PATH} loads no script: it would not hydrate.`)
  const total = [...scripts.values()].reduce((sum, text) => sum + gzipped(text), 0)
  const react = gzipped(await bundleReactAlone())
  return {
    name: 'scripts of hello over React, gzip',
    value: total - react,
    unit: 'B',
    detail: `${scripts.size} scripts, ${total.toLocaleString('en')} B; React alone ${react.toLocaleString('en')} B`,
  }
}

/** The scripts a document asks for: loaded and preloaded ones. */
export function scriptsOf(html: string): string[] {
  const loaded = [...html.matchAll(/<script\b[^>]*\bsrc="([^"]+)"[^>]*>/g)]
    .filter(([tag]) => !/\bnomodule\b/i.test(tag)) // for browsers that no longer are
    .map((match) => match[1])
  const preloaded = [...html.matchAll(/<link\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => /\brel="modulepreload"/.test(tag))
    .map((tag) => /\bhref="([^"]+)"/.exec(tag)?.[1])
  return [...new Set([...loaded, ...preloaded])].filter((path) => path !== undefined)
}

/** What a minified module imports statically. */
export function staticImports(script: string): string[] {
  const statements = script.matchAll(/\b(?:import|export)\s*(?:[\w$*{}\s,]*?\bfrom\s*)?"(\.{0,2}\/[^"]+)"/g)
  return [...statements].flatMap(([, path]) => path ?? [])
}

/** Loads scripts with everything they import statically, each once. */
async function loadScripts(page: URL, paths: readonly string[]): Promise<Map<string, string>> {
  const scripts = new Map<string, string>()
  const waiting = paths.map((path) => new URL(path, page).href)
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (scripts.has(url)) continue
    const answer = await fetch(url)
    if (answer.status !== 200) throw new Error(`${url}: status ${answer.status}`)
    const script = await answer.text()
    scripts.set(url, script)
    for (const path of staticImports(script)) waiting.push(new URL(path, url).href)
  }
  return scripts
}

function gzipped(script: string | Uint8Array): number {
  return gzipSync(script, { level: GZIP_LEVEL }).length
}
