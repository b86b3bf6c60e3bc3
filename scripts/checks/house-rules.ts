/**
 * The walls of the house that no compiler knows: which folder may import which, how long a file may be, and who may
 * end the process. Pure: takes the sources, gives the faults.
 */
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { listImports, withoutCommentLines } from './import-list.ts'
import type { ImportStatement } from './import-list.ts'

/** A file of the project. */
export interface SourceFile {
  /** From the project's folder, with `/`. */
  readonly path: string
  readonly text: string
}

const MAX_LINES = 400 // a file that is longer has more than one noun in it
const CODE = /\.(?:ts|tsx|mjs|css)$/
const SCRIPT = /\.(?:ts|tsx|mjs)$/

/** Folders that run in the browser too, and so know nothing of Node. */
const BROWSER_FOLDERS = ['src/shared/', 'src/client/']

/** May end the process: the server's main, and scripts, whose exit is their answer. */
const MAY_EXIT = /^(?:src\/server\/main\.ts$|scripts\/)/

/** One direction of the arrows: files under `from` may import what `to` holds, of the layers in `src`. */
interface Arrow {
  readonly from: string
  readonly to: readonly RegExp[]
  /** May be imported by `import type` only. */
  readonly types?: readonly RegExp[]
  readonly rule: string
}

const ARROWS: readonly Arrow[] = [
  { from: 'src/shared/', to: [/^src\/shared\//], rule: 'src/shared imports only itself' },
  { from: 'src/client/', to: [/^src\/(?:shared|client)\//], rule: 'src/client imports src/shared and itself' },
  {
    from: 'src/server/',
    to: [/^src\/(?:shared|server)\//, /^src\/client\/react\//],
    types: [/^src\/client\/module-types\.ts$/],
    rule: 'src/server imports src/shared, src/client/react, types of src/client/module-types.ts, and itself',
  },
  { from: 'src/app/', to: [/^src\//], rule: 'src/app imports src' },
]

/**
 * Finds what breaks the walls.
 * @param files sources under `src`, `scripts` and `tests`.
 * @param packageImports the `imports` field of package.json: `#name` to path.
 * @returns one line a fault: file, line, fault and rule.
 */
export function houseFaults(files: readonly SourceFile[], packageImports: Readonly<Record<string, string>>): string[] {
  return files
    .filter((file) => CODE.test(file.path))
    .flatMap((file) => [
      ...lengthFaults(file),
      ...(SCRIPT.test(file.path) ? [...importFaults(file, packageImports), ...statementFaults(file)] : []),
    ])
}

function lengthFaults(file: SourceFile): string[] {
  const lines = file.text.trimEnd().split('\n').length
  return lines > MAX_LINES
    ? [`${file.path}: ${lines} lines; no file has more than ${MAX_LINES}. Split it by nouns.`]
    : []
}

function importFaults(file: SourceFile, packageImports: Readonly<Record<string, string>>): string[] {
  const arrow = ARROWS.find(({ from }) => file.path.startsWith(from))
  if (arrow === undefined) return []
  const inBrowser = BROWSER_FOLDERS.some((folder) => file.path.startsWith(folder))
  return listImports(file.text).flatMap((statement) => {
    const place = `${file.path}:${statement.line}: imports ${statement.specifier}`
    if (inBrowser && isBuiltin(statement.specifier)) return [`${place}; a browser has no Node builtins`]
    const target = targetOf(file.path, statement.specifier, packageImports)
    return target === undefined || allows(arrow, target, statement) ? [] : [`${place}; ${arrow.rule}`]
  })
}

/** The path of the project that a specifier names, or `undefined` for a package. */
function targetOf(path: string, specifier: string, packageImports: Readonly<Record<string, string>>) {
  if (specifier.startsWith('#')) return posix.normalize(packageImports[specifier] ?? specifier)
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
}

function allows(arrow: Arrow, target: string, statement: ImportStatement): boolean {
  const allowed = statement.typeOnly ? [...arrow.to, ...(arrow.types ?? [])] : arrow.to
  return allowed.some((pattern) => pattern.test(target))
}

function statementFaults(file: SourceFile): string[] {
  const faults: string[] = []
  for (const [index, line] of withoutCommentLines(file.text).split('\n').entries()) {
    const place = `${file.path}:${index + 1}:`
    if (/\bprocess\.exit\b(?!Code)/.test(line) && file.path.startsWith('src/') && !MAY_EXIT.test(file.path)) {
      faults.push(`${place} process.exit; only src/server/main.ts and scripts end the process`)
    }
    if (/^(?:export )?let\s/.test(line) && file.path.startsWith('src/')) {
      faults.push(`${place} module-level let; a mutable fact has an owner, and is handed around by it`)
    }
  }
  return faults
}
