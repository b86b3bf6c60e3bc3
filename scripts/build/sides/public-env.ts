import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { transform, type Loader, type PartialMessage, type Plugin } from 'esbuild'
import { displayPath } from '../build-options.ts'
import { OWN_SCRIPT } from '../path-filter.ts'
import { isPackageFile } from '../runtime.ts'

/** Placeholders for the environment while a source is checked, by expression. */
const MARKS = { 'process.env': 'CLOSED_process_env', 'import.meta.env': 'CLOSED_import_meta_env' } as const

type EnvSource = keyof typeof MARKS

const SOURCES = Object.keys(MARKS) as EnvSource[]

/**
 * The replacements for public variables, equal in the browser's and the server's bundle, so that both render the same.
 * @param names the variables in the sources; one that is not set is `undefined` in the code.
 */
export function publicEnvDefines(
  names: Iterable<string>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const defines: Record<string, string> = {}
  for (const name of names) {
    for (const source of SOURCES) defines[`${source}.${name}`] = JSON.stringify(env[name]) ?? 'undefined'
  }
  return defines
}

/**
 * Stops a browser build whose own code reads any other environment variable; names file, line and variable.
 * @param defines the allowed variables: the build's own replacements.
 */
export function closedEnv(root: string, defines: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'closed-env',
    setup(build) {
      build.onLoad({ filter: OWN_SCRIPT, namespace: 'file' }, async ({ path }) => {
        if (isPackageFile(path)) return undefined
        const text = await readFile(path, 'utf8')
        if (!/\benv\b/.test(text)) return undefined
        const loader = extname(path).replace(/^\.[cm]?/, '') as Loader
        const found = await closedReads(text, loader, defines)
        return found.length === 0
          ? undefined
          : { errors: found.map((read) => explain(displayPath(root, path), text, read)) }
      })
    },
  }
}

interface ClosedRead {
  readonly source: EnvSource
  /** Absent if the environment is used as a whole. */
  readonly name?: string
}

/** Checks the compiled code: comments, strings, types and dead branches are gone, and each access has one form. */
async function closedReads(
  text: string,
  loader: Loader,
  defines: Readonly<Record<string, string>>,
): Promise<readonly ClosedRead[]> {
  const options = { loader, define: { ...defines, ...MARKS }, minifySyntax: true, logLevel: 'silent' } as const
  // If a source does not compile, esbuild reports it.
  const code = await transform(text, options).then(
    (result) => result.code,
    () => '',
  )
  const reads = new Map<string, ClosedRead>()
  for (const source of SOURCES) {
    const access = new RegExp(String.raw`(?:\{([^{}]*)\}\s*=\s*)?\b${MARKS[source]}\b(?:\??\.([\w$]+))?`, 'g')
    for (const [, taken, member] of code.matchAll(access)) {
      const names = taken === undefined ? [member] : taken.split(',').map((part) => part.split(/[:=]/)[0]?.trim())
      for (const name of names) reads.set(`${source}.${name}`, name === undefined ? { source } : { source, name })
    }
  }
  return [...reads.values()]
}

function explain(file: string, text: string, { source, name }: ClosedRead): PartialMessage {
  const lines = text.split('\n')
  const object = source.replaceAll('.', String.raw`\s*\??\.\s*`)
  const member = name === undefined ? '' : String.raw`\s*(?:\??\.\s*|\[\s*['"\x60])${name}\b|\b${name}\b.*=\s*${object}`
  const exact = new RegExp(object + member)
  const line = Math.max(
    lines.findIndex((one) => exact.test(one)),
    0,
  )
  const lineText = lines[line] ?? ''
  return {
    text:
      `Browser code reads ${name === undefined ? source : `${source}.${name}`} in ${file}. ` +
      'Only variables named PUBLIC_* are built into the browser bundle; read others in a *.server.ts module.' +
      (source === 'import.meta.env' ? ' process.env.NODE_ENV tells development from production.' : ''),
    location: { file, line: line + 1, column: Math.max(lineText.search(exact), 0), lineText },
  }
}
