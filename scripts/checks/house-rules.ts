/**
 * The rules that neither the compiler nor the linter can check: which folder imports which, how long a file of any
 * kind is, and that no module has a mutable variable. Pure: takes the sources, gives the faults.
 */
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
  return listImports(file.text).flatMap((statement) => {
    const place = `${file.path}:${statement.line}: imports ${statement.specifier}`
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
  if (!file.path.startsWith('src/')) return []
  return withoutCommentLines(file.text)
    .split('\n')
    .flatMap((line, index) =>
      /^(?:export )?let\s/.test(line)
        ? [`${file.path}:${index + 1}: module-level let; give the mutable fact an owner that passes it on`]
        : [],
    )
}
