import { existsSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { DevWarning } from '../../../src/client/dev/dev-messages.ts'
import { createLinkJudge } from '../../build/project/dead-links.ts'
import { linkLiterals, type LinkLiteral } from '../../build/project/link-literals.ts'
import type { DevGeneration } from '../compile/dev-build.ts'

const MODULE = /\.[cm]?[jt]sx?$/

/** Finds dead literal links of a build; a module is parsed again only if it has changed. */
export function createLinkWarnings(): (generation: DevGeneration) => readonly DevWarning[] {
  const parsed = new Map<string, { readonly text: string; readonly literals: readonly LinkLiteral[] }>()

  function literalsOf(file: string): readonly LinkLiteral[] {
    if (!existsSync(file)) return [] // it has gone since the build
    const text = readFileSync(file, 'utf8')
    const known = parsed.get(file)
    if (known?.text === text) return known.literals
    const literals = linkLiterals(file, text)
    parsed.set(file, { text, literals })
    return literals
  }

  return ({ context: { root, app, basePath }, browser, server, sources, urls, rules }) => {
    const judge = createLinkJudge({ sources, urls, rules, basePath })
    const keys = [browser.inputs, server.metafile.inputs].flatMap((inputs) => Object.keys(inputs))
    const files = [...new Set(keys)].filter((key) => MODULE.test(key) && isOwn(join(root, key), app))
    const isThere = new Set(files.map((key) => join(root, key)))
    for (const file of parsed.keys()) if (!isThere.has(file)) parsed.delete(file)
    return files.toSorted().flatMap((key) =>
      literalsOf(join(root, key)).flatMap((literal): readonly DevWarning[] => {
        const fault = judge.faultOf(literal)
        const frame = { name: '', file: key, line: literal.line, column: literal.column, own: true }
        return fault === undefined ? [] : [{ kind: 'link', message: upperFirst(fault), frame }]
      }),
    )
  }
}

function isOwn(file: string, app: string): boolean {
  return file.startsWith(app + sep) && !file.includes(`${sep}node_modules${sep}`)
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
