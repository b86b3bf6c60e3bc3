/**
 * The rules that neither the compiler nor the linter can check: which folder imports which, the maximum length of a
 * file, that no module has a mutable variable, that the browser's code reads no members of forms, and that no hook returns
 * a new function at each render. Pure: takes the
 * sources, returns the faults.
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

const MAX_LINES = 400 // a longer file has more than one noun in it
const CODE = /\.(?:ts|tsx|mdx|mjs|css|scss)$/
const SCRIPT = /\.(?:ts|tsx|mdx|mjs)$/

/** Anything in this package, by the package's name. */
const OWN_ENTRY = /^millrace(?:\/|$)/

/** What applications may import of it. */
export const PUBLISHED_ENTRIES: readonly string[] = [
  'millrace',
  'millrace/server',
  'millrace/inspect',
  'millrace/build',
  'millrace/types',
  'millrace/testing',
  'millrace/testing/register',
  'millrace/package.json',
]

/** An application of this repository: the reference application, a template, an example. */
const APPLICATION = /^(?:src\/app|(?:templates|examples)\/[^/]+)\//

/** What the reference application may import besides: it shows the handbook, which is the package's own. */
const HANDBOOK_ENTRY = 'millrace/internal/handbook'

/** A file of hooks, by the project's names. */
const HOOKS = /^src\/client\/hooks\/use-[^/]+\.tsx?$/

/**
 * A function that a hook makes at each render, in formatted code: in its own body, or in a literal that it returns.
 * `useCallback` and `useMemo` keep theirs.
 */
const MADE_AT_EACH_RENDER = [
  /^ {2}(?:const \w+ = (?:async )?(?:\([^)]*\)|\w+)(?:: [^=]+)? =>|(?:async )?function )/gm,
  /^ {2}return [[{](?:.*=>|(?:(?!^ {2}[\]}])[^])*=>)/gm,
]

/** A chapter of the handbook, or the README. Samples of tests reach into the sources as this project's own tests do. */
const CHAPTER = /^(?:docs\/[^/]+|README)\.md$/

/** One permitted direction: files under `from` may import files that match `to`, of the layers in `src`. */
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
  {
    from: 'src/testing/',
    to: [/^src\/(?:shared|server|testing)\//],
    types: [/^src\/client\/module-types\.ts$/],
    rule: 'src/testing imports src/shared, src/server, types of src/client/module-types.ts, and itself',
  },
]

/**
 * Finds violations of the house rules.
 * @param files sources, and the chapters of the handbook.
 * @returns one line per fault: file, line, fault and rule.
 */
export function houseFaults(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...(CODE.test(file.path) ? lengthFaults(file) : []),
    ...(SCRIPT.test(file.path) ? [...importFaults(file), ...statementFaults(file), ...formFaults(file)] : []),
    ...(HOOKS.test(file.path) ? hookFaults(file) : []),
    ...(CHAPTER.test(file.path) ? importFaults(file) : []),
  ])
}

function lengthFaults(file: SourceFile): string[] {
  const lines = file.text.trimEnd().split('\n').length
  return lines > MAX_LINES
    ? [`${file.path}: ${lines} lines; no file has more than ${MAX_LINES}. Split it by nouns.`]
    : []
}

function importFaults(file: SourceFile): string[] {
  const folder = APPLICATION.exec(file.path)?.[0]
  if (folder !== undefined || CHAPTER.test(file.path)) return applicationFaults(file, folder)
  const arrow = ARROWS.find(({ from }) => file.path.startsWith(from))
  if (arrow === undefined) return []
  return listImports(file.text).flatMap((statement) =>
    allows(arrow, file.path, statement)
      ? []
      : [`${file.path}:${statement.line}: imports ${statement.specifier}; ${arrow.rule}`],
  )
}

/** @param folder of the application; `undefined` for samples, whose neighbours are not printed. */
function applicationFaults({ path, text }: SourceFile, folder: string | undefined): string[] {
  return listImports(text).flatMap(({ specifier, line }) => {
    const isOwn = specifier.startsWith('.') && folder !== undefined
    const isHandbook = specifier === HANDBOOK_ENTRY && folder === 'src/app/'
    const isAllowed = isOwn
      ? posix.join(posix.dirname(path), specifier).startsWith(folder)
      : isHandbook || !OWN_ENTRY.test(specifier) || PUBLISHED_ENTRIES.includes(specifier)
    const rule = `an application imports its own files and published entries: ${PUBLISHED_ENTRIES.join(', ')}`
    return isAllowed ? [] : [`${path}:${line}: imports ${specifier}; ${rule}`]
  })
}

function allows(arrow: Arrow, path: string, { specifier, typeOnly }: ImportStatement): boolean {
  if (OWN_ENTRY.test(specifier)) return false
  if (!specifier.startsWith('.')) return true
  const target = posix.join(posix.dirname(path), specifier)
  const allowed = typeOnly ? [...arrow.to, ...(arrow.types ?? [])] : arrow.to
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

/** What a form is called in the browser's code. The types know nothing of what its fields hide. */
const FORM_MEMBER = /(?<![\w./$])form[?!]?\.\w/

function formFaults(file: SourceFile): string[] {
  if (!file.path.startsWith('src/client/')) return []
  return withoutCommentLines(file.text)
    .split('\n')
    .flatMap((line, index) =>
      FORM_MEMBER.test(line)
        ? [
            `${file.path}:${index + 1}: a member of a form, which a field of that name hides; read it from unhidden(form)`,
          ]
        : [],
    )
}

function hookFaults({ path, text }: SourceFile): string[] {
  return [...text.matchAll(/^export function use[A-Z][^]*?^\}/gm)].flatMap((hook) =>
    MADE_AT_EACH_RENDER.flatMap((pattern) => [...hook[0].matchAll(pattern)]).map(({ index }) => {
      const line = text.slice(0, hook.index + index).split('\n').length
      return `${path}:${line}: a new function at each render; effects may depend on it: keep it by useCallback or useMemo`
    }),
  )
}
